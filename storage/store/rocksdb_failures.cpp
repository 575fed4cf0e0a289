#include "storage/store/rocksdb_failures.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ballast {
namespace {

// RocksDB tells an exhausted quota, and the want of file descriptors, by its text alone.
StoreCode store_code_of(const rocksdb::Status& status) {
  if (status.IsCorruption()) {
    return StoreCode::corrupt;
  }
  const auto text = status.ToString();
  const auto says = [&](int error) { return text.find(std::strerror(error)) != std::string::npos; };
  if (status.IsNoSpace() || says(EDQUOT)) {
    return StoreCode::no_space;
  }
  return says(EMFILE) || says(ENFILE) ? StoreCode::no_descriptor : StoreCode::io;
}

StoreStatus with_remedy(StoreCode code, const std::string& text) {
  const auto remedy = code == StoreCode::corrupt ? kDamageRemedy : disk_remedy(code);
  return {code, text + "; " + std::string(remedy) + (code == StoreCode::io ? ", then start again" : "")};
}

// The process that holds a lock on `file`, from /proc/locks; 0 if the system does not tell. Opening the file and asking
// by fcntl would give up the lock where this very process holds it.
long lock_owner(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    return 0;
  }
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, place;
    long owner = 0;
    unsigned device_major = 0;
    unsigned device_minor = 0;
    unsigned long inode = 0;
    if ((words >> number >> kind >> strictness >> access >> owner >> place) && kind == "POSIX" &&
        std::sscanf(place.c_str(), "%x:%x:%lu", &device_major, &device_minor, &inode) == 3 && inode == info.st_ino &&
        device_major == major(info.st_dev) && device_minor == minor(info.st_dev)) {
      return owner;
    }
  }
  return 0;
}

std::string logs_in(const std::filesystem::path& database) {
  std::string names;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(database, failure), end; !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    if (at->path().extension() == ".log" && at->file_size(gone) > 0 && !gone) {
      names += (names.empty() ? "" : ", ") + at->path().filename().string();
    }
  }
  return names;
}

}  // namespace

StoreStatus translate(const std::string& path, const std::string& what, const rocksdb::Status& status) {
  return with_remedy(store_code_of(status), path + ": cannot " + what + ": " + status.ToString());
}

StoreStatus refused_write(const std::string& path, int error) {
  return with_remedy(code_of(error), path + ": cannot write: " + std::strerror(error));
}

StoreStatus explain_open(const std::string& path, const rocksdb::Status& status) {
  const auto text = status.ToString();
  if (text.find("lock hold by current process") != std::string::npos) {
    return {StoreCode::in_use, path + ": this process has the database open already"};
  }
  if (status.IsIOError() && text.find("/LOCK") != std::string::npos && text.find("lock file") != std::string::npos) {
    const auto owner = lock_owner(path + "/LOCK");
    return {StoreCode::in_use, path + ": another process " +
                                   (owner > 0 ? "(pid " + std::to_string(owner) + ") " : std::string()) +
                                   "has the database open; stop it, or use another run folder"};
  }
  auto told = translate(path, "open the database", status);
  // Of damage to a log RocksDB does not say in which.
  const auto logs = logs_in(path);
  return status.IsCorruption() && text.find('/') == std::string::npos && !logs.empty()
             ? StoreStatus{told.code(), told.text() + " (the damage is in a log of recent writes: " + logs + ")"}
             : told;
}

}  // namespace ballast
