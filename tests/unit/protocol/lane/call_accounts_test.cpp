#include "protocol/lane/call_accounts.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

constexpr CallAccounts::Connection kOld{7, 1};
constexpr CallAccounts::Connection kNew{7, 2};

OpenCall open_call(std::uint64_t bytes) { return {1, {0, 3, {0, 1}}, bytes, 9}; }

}  // namespace

TEST_CASE("a call is in use until it is settled, once, over its own connection") {
  CallAccounts accounts(10);
  accounts.call(kOld, 1, open_call(20), 0);
  accounts.call(kOld, 2, open_call(30), 0);
  CHECK(accounts.bytes() == 50);
  CHECK_FALSE(accounts.settle(kNew, 1, 1).has_value());
  CHECK(accounts.settle(kOld, 1, 1) == open_call(20));
  CHECK_FALSE(accounts.settle(kOld, 1, 1).has_value());
  CHECK(accounts.bytes() == 30);
}

TEST_CASE("given up, all of a connection stays in use until it has ended, and nothing of it is overdue") {
  CallAccounts accounts(10);
  accounts.call(kOld, 1, open_call(20), 0);
  accounts.give_ahead(kOld, 5);
  accounts.give_up(kOld);
  CHECK(accounts.bytes() == 25);
  CHECK(accounts.overdue(1'000).empty());
  CHECK(accounts.returnable().empty());
  CHECK(accounts.ended(kOld).size() == 1);
  CHECK(accounts.bytes() == 0);
}

TEST_CASE("bytes given ahead are spent and returned no further than they go, to whoever asked last") {
  CallAccounts accounts(10);
  accounts.give_ahead(kOld, 50);
  CHECK(accounts.ahead_bytes() == 50);
  CHECK_FALSE(accounts.spend(kOld, 51));
  CHECK(accounts.spend(kOld, 20));
  accounts.ask_return(kOld, 4, 0);
  CHECK(accounts.is_asked_to_return(kOld));
  CHECK_FALSE(accounts.returned(kOld, 3, 10, 0));
  CHECK_FALSE(accounts.returned(kOld, 4, 31, 0));
  CHECK(accounts.returned(kOld, 0, 10, 0));  // unasked
  CHECK(accounts.is_asked_to_return(kOld));
  CHECK(accounts.returned(kOld, 4, 20, 0));
  CHECK(accounts.bytes() == 0);
  CHECK(accounts.overdue(1'000).empty());
}

TEST_CASE("what is asked for by name is overdue from when nothing earlier is unsettled; bytes ahead never are") {
  CallAccounts accounts(10);
  accounts.give_ahead(kNew, 50);
  accounts.call(kOld, 1, open_call(20), 0);
  accounts.call(kOld, 2, open_call(20), 0);
  accounts.settle(kOld, 1, 8);
  CHECK(accounts.overdue(17).empty());
  CHECK(accounts.overdue(18) == std::vector{kOld});
  CHECK(accounts.overdue(1'000).empty());  // told once
  accounts.ask_return(kNew, 3, 20);
  accounts.call(kNew, 4, open_call(20), 25);
  accounts.settle(kNew, 4, 29);  // which does not answer the return
  CHECK(accounts.overdue(29).empty());
  CHECK(accounts.overdue(30) == std::vector{kNew});
}

TEST_CASE("what is passed over is overdue whatever else is paid, and what comes behind it has its own time") {
  CallAccounts accounts(10);
  accounts.call(kOld, 1, open_call(20), 0);
  accounts.call(kOld, 2, open_call(20), 0);
  accounts.settle(kOld, 2, 8);
  CHECK(accounts.overdue(10) == std::vector{kOld});
  accounts.ask_return(kNew, 3, 20);
  accounts.call(kNew, 4, open_call(20), 21);
  CHECK(accounts.returned(kNew, 3, 0, 29));
  CHECK(accounts.overdue(38).empty());
  CHECK(accounts.overdue(39) == std::vector{kNew});
}

TEST_CASE("a return that is asked for behind a call is waited for when the call has come") {
  CallAccounts accounts(10);
  accounts.call(kOld, 1, open_call(64'000), 0);  // which may take a second longer
  accounts.ask_return(kOld, 2, 5);
  accounts.call(kOld, 3, open_call(20), 6);
  CHECK(accounts.overdue(1'000'009).empty());
  accounts.settle(kOld, 1, 1'000'009);
  CHECK(accounts.overdue(1'000'018).empty());
  accounts.settle(kOld, 3, 1'000'018);
  CHECK(accounts.overdue(1'000'019) == std::vector{kOld});
}
