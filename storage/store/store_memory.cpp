#include "storage/store/store.h"

namespace ballast {

void MemoryStore::apply(const WriteBatch& batch, Content& content) {
  for (const auto& [kind, key, value] : batch.operations()) {
    if (kind == WriteBatch::Kind::put) {
      content.insert_or_assign(key, value);
    } else if (kind == WriteBatch::Kind::erase) {
      content.erase(key);
    } else if (key < value) {
      content.erase(content.lower_bound(key), content.lower_bound(value));
    }
  }
}

StoreStatus MemoryStore::refusal(const StoreStatus& failure) const {
  return failure.ok() ? StoreStatus{} : StoreStatus{failure.code(), path_ + ": " + failure.text()};
}

void MemoryStore::make_durable() {
  for (const auto& earlier : unsynced_) {
    apply(earlier, durable_);
  }
  unsynced_.clear();
}

StoreStatus MemoryStore::write(const WriteBatch& batch, Sync sync) {
  const std::lock_guard lock(mutex_);
  if (auto refused = refusal(write_failure_); !refused.ok()) {
    return refused;
  }
  apply(batch, current_);
  unsynced_.push_back(batch);
  if (sync == Sync::yes) {
    make_durable();
  }
  return {};
}

StoreStatus MemoryStore::sync() {
  const std::lock_guard lock(mutex_);
  if (auto refused = refusal(write_failure_); !refused.ok()) {
    return refused;
  }
  make_durable();
  return {};
}

StoreResult<std::optional<std::string>> MemoryStore::get(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  if (auto refused = refusal(read_failure_); !refused.ok()) {
    return refused;
  }
  const auto found = current_.find(key);
  return found == current_.end() ? std::optional<std::string>{} : std::optional<std::string>{found->second};
}

StoreStatus MemoryStore::scan(std::string_view prefix, const Visitor& visit) const {
  std::vector<std::pair<std::string, std::string>> found;  // so that a visitor may call the store
  {
    const std::lock_guard lock(mutex_);
    if (auto refused = refusal(read_failure_); !refused.ok()) {
      return refused;
    }
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

StoreResult<std::optional<std::string>> MemoryStore::first_key(std::string_view from) const {
  const std::lock_guard lock(mutex_);
  if (auto refused = refusal(read_failure_); !refused.ok()) {
    return refused;
  }
  const auto found = current_.lower_bound(from);
  return found == current_.end() ? std::optional<std::string>{} : std::optional<std::string>{found->first};
}

void MemoryStore::crash() {
  const std::lock_guard lock(mutex_);
  current_ = durable_;
  unsynced_.clear();
}

void MemoryStore::fail_writes(StoreStatus status) {
  const std::lock_guard lock(mutex_);
  write_failure_ = std::move(status);
}

void MemoryStore::fail_reads(StoreStatus status) {
  const std::lock_guard lock(mutex_);
  read_failure_ = std::move(status);
}

}  // namespace ballast
