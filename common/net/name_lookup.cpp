#include "common/net/name_lookup.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ballast {

struct NameLookup::Asked {
  std::string address;
  std::mutex mutex;
  std::optional<Resolution> found;
};

void NameLookup::begin(const std::string& address) {
  if (asked_) {
    return;
  }
  auto asked = std::make_shared<Asked>();
  asked->address = address;
  try {
    std::thread([asked] {
      auto found = resolve(asked->address);
      const std::scoped_lock lock(asked->mutex);
      asked->found = std::move(found);
    }).detach();
    asked_ = std::move(asked);
  } catch (const std::system_error&) {
    // No thread can be had now: whoever asks again may be luckier.
  }
}

std::optional<NameLookup::Answer> NameLookup::take() {
  if (!asked_) {
    return std::nullopt;
  }
  std::optional<Resolution> found;
  {
    const std::scoped_lock lock(asked_->mutex);
    found = asked_->found;
  }
  if (!found) {
    return std::nullopt;
  }
  return Answer{std::exchange(asked_, nullptr)->address, std::move(*found)};
}

}  // namespace ballast
