#include "cli/models/closed_database.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace ballast {

namespace {

struct flock whole_file(short kind = F_WRLCK) {
  struct flock lock {};
  lock.l_type = kind;
  return lock;
}

int opened_lock(const std::filesystem::path& database, int how) {
  return open((database / "LOCK").c_str(), how | O_CLOEXEC, 0644);
}

}  // namespace

ClosedDatabase::ClosedDatabase(const std::filesystem::path& database)
    : ClosedDatabase(database, opened_lock(database, O_RDWR | O_CREAT), F_WRLCK) {}

ClosedDatabase ClosedDatabase::to_read(const std::filesystem::path& database) {
  const int fd = opened_lock(database, O_RDONLY);
  return fd < 0 && errno == ENOENT ? ClosedDatabase(fd) : ClosedDatabase(database, fd, F_RDLCK);
}

// RocksDB's is a lock for writing, which goes with none for reading.
ClosedDatabase::ClosedDatabase(const std::filesystem::path& database, int fd, short kind) : fd_(fd) {
  auto lock = whole_file(kind);
  if (fd_ < 0 || fcntl(fd_, F_SETLK, &lock) != 0) {
    const int error = errno;
    const bool held = fd_ >= 0 && (error == EAGAIN || error == EACCES);
    if (fd_ >= 0) {
      close(fd_);
    }
    throw std::runtime_error(database.string() + ": " +
                             (held ? "a server has the database open; wait for the job's end or stop it (ballast stop)"
                                   : std::string("its file LOCK cannot be locked: ") + std::strerror(error)));
  }
}

ClosedDatabase::~ClosedDatabase() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

ClosedDatabase::ClosedDatabase(ClosedDatabase&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool is_open_elsewhere(const std::filesystem::path& database) {
  const int fd = open((database / "LOCK").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno != ENOENT && errno != ENOTDIR;  // RocksDB makes the file before all else
  }
  auto lock = whole_file();
  const bool free = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
  close(fd);
  return !free;
}

}  // namespace ballast
