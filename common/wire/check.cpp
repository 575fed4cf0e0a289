#include "common/wire/check.h"

#include <type_traits>

#include "common/wire/fault_of.h"
#include "common/wire/messages_table.h"

namespace ballast::wire {

std::optional<Refused> check(const Message& message) {
  return std::visit(
      [](const auto& body) -> std::optional<Refused> {
        if (auto fault = fault_of(body)) {
          return Refused{RefusalCode::out_of_range, Described<std::remove_cvref_t<decltype(body)>>::name + *fault};
        }
        return std::nullopt;
      },
      message);
}

}  // namespace ballast::wire
