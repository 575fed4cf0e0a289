#include "common/net/name_lookup.h"

#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ballast {

// What the resolver is asked about one host, by whoever wants to know of it now.
struct NameLookup::Asked {
  std::string host;  // with its scheme
  std::mutex mutex;
  std::optional<Resolution> found;  // without a port
};

namespace {

std::string without_port(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

// Lanes of one host, a thousand of them, lose their connections at the same moment: one thread asks for all.
class NameLookup::UnderWay {
 public:
  // Never destroyed: a thread may still ask when the process ends.
  static UnderWay& all() {
    static auto* const all = new UnderWay;
    return *all;
  }

  // Throws std::system_error if no thread can be had.
  std::shared_ptr<Asked> ask(const std::string& host) {
    const std::scoped_lock lock(mutex_);
    auto& asked = by_host_[host];
    if (!asked) {
      auto now = std::make_shared<Asked>();
      now->host = host;
      std::thread([this, now] { answer(*now); }).detach();
      asked = std::move(now);
    }
    return asked;
  }

 private:
  void answer(Asked& asked) {
    auto found = resolve(asked.host + ":0");
    for (auto& address : found.addresses) {
      address = without_port(address);
    }
    {
      const std::scoped_lock lock(asked.mutex);
      asked.found = std::move(found);
    }
    const std::scoped_lock lock(mutex_);
    by_host_.erase(asked.host);  // whoever asks from now on asks anew
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Asked>> by_host_;
};

void NameLookup::begin(const std::string& address) {
  if (asked_) {
    return;
  }
  try {
    asked_ = UnderWay::all().ask(without_port(address));
    address_ = address;
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
  asked_.reset();
  for (auto& number : found->addresses) {
    number += address_.substr(address_.rfind(':'));
  }
  return Answer{std::exchange(address_, {}), std::move(*found)};
}

}  // namespace ballast
