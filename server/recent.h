// A map that forgets what has not been used for longest.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ballast {

// Holds at most `most` values. One thread.
template <typename Key, typename Value>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  [[nodiscard]] std::size_t size() const { return index_.size(); }
  [[nodiscard]] bool is_full() const { return size() >= most_; }

  // Null if it is not there. This is no use of it.
  [[nodiscard]] const Value* peek(const Key& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &found->second->second;
  }

  // Null if it is not there; else it is the one used last.
  Value* use(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) {
      return nullptr;
    }
    order_.splice(order_.end(), order_, found->second);
    return &found->second->second;
  }

  // Of a key that is not there; while it is full, forget_oldest() comes first.
  Value& add(const Key& key, Value value) {
    order_.emplace_back(key, std::move(value));
    index_.emplace(key, std::prev(order_.end()));
    return order_.back().second;
  }

  std::optional<std::pair<Key, Value>> forget_oldest() {
    if (order_.empty()) {
      return std::nullopt;
    }
    auto forgotten = std::move(order_.front());
    index_.erase(forgotten.first);
    order_.pop_front();
    return forgotten;
  }

  [[nodiscard]] auto begin() const { return order_.begin(); }
  [[nodiscard]] auto end() const { return order_.end(); }

 private:
  std::size_t most_;
  std::list<std::pair<Key, Value>> order_;  // the one used last is at the end
  std::unordered_map<Key, typename std::list<std::pair<Key, Value>>::iterator> index_;
};

}  // namespace ballast
