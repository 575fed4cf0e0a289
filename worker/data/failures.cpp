#include "worker/data/failures.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace ballast {

bool may_pass(const std::error_code& error) {
  static constexpr std::array kLasting = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EINVAL};
  return std::ranges::none_of(
      kLasting, [&](int number) { return error == std::error_condition(number, std::generic_category()); });
}

void throw_unread(const std::string& text, const std::error_code& error) {
  if (may_pass(error)) {
    throw ReadFailure(text);
  }
  throw std::runtime_error(text);
}

}  // namespace ballast
