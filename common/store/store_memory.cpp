#include "common/store/store.h"

namespace ballast {

void MemoryStore::apply(const WriteBatch& batch, Content& content) {
  for (const auto& operation : batch.operations()) {
    if (operation.value) {
      content.insert_or_assign(operation.key, *operation.value);
    } else {
      content.erase(operation.key);
    }
  }
}

StoreStatus MemoryStore::write(const WriteBatch& batch, Sync sync) {
  const std::lock_guard lock(mutex_);
  if (!write_failure_.empty()) {
    return {StoreCode::io, path_ + ": " + write_failure_};
  }
  apply(batch, current_);
  unsynced_.push_back(batch);
  if (sync == Sync::yes) {
    for (const auto& earlier : unsynced_) {
      apply(earlier, durable_);
    }
    unsynced_.clear();
  }
  return {};
}

StoreResult<std::optional<std::string>> MemoryStore::get(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = current_.find(key);
  return found == current_.end() ? std::optional<std::string>{} : std::optional<std::string>{found->second};
}

StoreStatus MemoryStore::scan(std::string_view prefix, const Visitor& visit) const {
  std::vector<std::pair<std::string, std::string>> found;  // so that a visitor may call the store
  {
    const std::lock_guard lock(mutex_);
    for (auto at = current_.lower_bound(prefix); at != current_.end() && at->first.starts_with(prefix); ++at) {
      found.emplace_back(*at);
    }
  }
  for (const auto& [key, value] : found) {
    if (!visit(key, value)) {
      break;
    }
  }
  return {};
}

void MemoryStore::crash() {
  const std::lock_guard lock(mutex_);
  current_ = durable_;
  unsynced_.clear();
}

void MemoryStore::fail_writes(std::string text) {
  const std::lock_guard lock(mutex_);
  write_failure_ = std::move(text);
}

}  // namespace ballast
