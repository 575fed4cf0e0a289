#include "common/files/status.h"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

namespace ballast {
namespace {

TEST_CASE("a status that is unwrapped throws its text, and nothing where it is well") {
  CHECK_NOTHROW(throw_unless_ok({}));
  CHECK_THROWS_WITH_AS(throw_unless_ok({StoreCode::io, "/data: cannot be read"}), "/data: cannot be read",
                       std::runtime_error);
}

TEST_CASE("a result that is unwrapped gives its value away, or throws the text of its status") {
  CHECK(*value_or_throw(StoreResult<std::unique_ptr<int>>(std::make_unique<int>(7))) == 7);
  CHECK_THROWS_WITH_AS(value_or_throw(StoreResult<int>(StoreStatus{StoreCode::missing, "no database in /data"})),
                       "no database in /data", std::runtime_error);
}

}  // namespace
}  // namespace ballast
