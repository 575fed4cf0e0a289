#include "common/net/name_lookup.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "common/net/address.h"

namespace ballast {

struct NameLookup::Asked {
  std::string address;
  std::mutex mutex;
  std::optional<std::string> why_not;
};

void NameLookup::begin(const std::string& address) {
  if (asked_) {
    return;
  }
  auto asked = std::make_shared<Asked>();
  asked->address = address;
  try {
    std::thread([asked] {
      auto why_not = why_not_resolved(asked->address);
      const std::scoped_lock lock(asked->mutex);
      asked->why_not = std::move(why_not);
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
  std::optional<std::string> why_not;
  {
    const std::scoped_lock lock(asked_->mutex);
    why_not = asked_->why_not;
  }
  if (!why_not) {
    return std::nullopt;
  }
  return Answer{std::exchange(asked_, nullptr)->address, std::move(*why_not)};
}

}  // namespace ballast
