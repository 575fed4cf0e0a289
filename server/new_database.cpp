#include "server/new_database.h"

#include <system_error>
#include <utility>

#include "storage/store/shard_store.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

// What cannot be read is left alone.
bool has_begun(const fs::path& folder) {
  auto opened = open_rocksdb(folder, OpenMode::read_only);
  if (!opened.ok()) {
    return fs::exists(folder / "CURRENT");
  }
  const ShardStore store(std::move(opened.value()));
  const auto timeline = store.timeline();
  return !timeline.ok() || timeline.value().has_value();
}

}  // namespace

NewDatabase::NewDatabase(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  was_there_ = fs::exists(folder_, error) || error;
  was_empty_ = !was_there_ || (fs::is_directory(folder_, error) && fs::is_empty(folder_, error) && !error);
}

bool NewDatabase::discard() const {
  std::error_code error;
  if (!was_empty_ || !fs::is_directory(folder_, error) || has_begun(folder_)) {
    return false;
  }
  // The folder itself may be a mount point, or somebody else's.
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    fs::remove_all(entry.path(), error);
  }
  if (!was_there_) {
    fs::remove(folder_, error);
  }
  return !error;
}

}  // namespace ballast
