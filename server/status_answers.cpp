#include "server/status_answers.h"

#include <vector>

namespace ballast {

SharedBytes StatusAnswers::answer(std::uint32_t version, Micros now, const std::function<Status()>& make) {
  if (made_at_ == 0 || now - made_at_ > kAge) {
    status_ = make();
    made_at_ = now;
    bytes_ = {};
  }
  auto& bytes = bytes_.at(version - kOldestProtocolVersion);
  if (!bytes) {
    const auto encoded = encoder_.encode(status_, version);
    bytes = std::make_shared<const std::vector<std::byte>>(encoded.begin(), encoded.end());
  }
  return bytes;
}

}  // namespace ballast
