#include "protocol/lane/call_accounts.h"

#include <algorithm>
#include <utility>

namespace ballast {

namespace {

constexpr std::uint64_t kSlowestBytesPerMilli = 64;  // of a link that is of use

}  // namespace

Micros CallAccounts::time_for(std::uint64_t bytes) const { return overdue_ + bytes / kSlowestBytesPerMilli * 1'000; }

std::uint64_t CallAccounts::bytes() const { return called_ + ahead_; }

// ---- what is asked for

void CallAccounts::call(Connection connection, std::uint64_t number, const OpenCall& call, Micros now) {
  auto& account = accounts_[connection];
  account.calls.emplace(number, call);
  called_ += call.bytes;
  if (account.due == 0) {
    await(connection, account, now);
  }
}

void CallAccounts::give_ahead(Connection connection, std::uint64_t bytes) {
  auto& account = accounts_[connection];
  account.ahead += bytes;
  ahead_ += bytes;
  keep_returnable(connection, account);
}

void CallAccounts::ask_return(Connection connection, std::uint64_t number, Micros now) {
  auto& account = accounts_[connection];
  account.return_asked = number;
  keep_returnable(connection, account);
  if (account.due == 0) {
    await(connection, account, now);
  }
}

// ---- what settles it

std::optional<OpenCall> CallAccounts::settle(Connection connection, std::uint64_t number, Micros now) {
  const auto account = accounts_.find(connection);
  if (account == accounts_.end()) {
    return std::nullopt;
  }
  const auto found = account->second.calls.find(number);
  if (found == account->second.calls.end()) {
    return std::nullopt;
  }
  const auto settled = found->second;
  const bool was_first = number == first_asked(account->second);
  account->second.calls.erase(found);
  called_ -= settled.bytes;
  if (was_first) {
    await(connection, account->second, now);
  }
  forget_if_empty(account);
  return settled;
}

bool CallAccounts::spend(Connection connection, std::uint64_t bytes) {
  const auto account = accounts_.find(connection);
  if (account == accounts_.end() || account->second.ahead < bytes) {
    return false;
  }
  account->second.ahead -= bytes;
  ahead_ -= bytes;
  keep_returnable(connection, account->second);
  forget_if_empty(account);
  return true;
}

bool CallAccounts::returned(Connection connection, std::uint64_t number, std::uint64_t bytes, Micros now) {
  const auto account = accounts_.find(connection);
  if (account == accounts_.end() || account->second.ahead < bytes ||
      (number != 0 && number != account->second.return_asked)) {
    return false;
  }
  account->second.ahead -= bytes;
  ahead_ -= bytes;
  if (number != 0) {
    const bool was_first = number == first_asked(account->second);
    account->second.return_asked = 0;
    if (was_first) {
      await(connection, account->second, now);
    }
  }
  keep_returnable(connection, account->second);
  forget_if_empty(account);
  return true;
}

std::map<std::uint64_t, OpenCall> CallAccounts::ended(Connection connection) {
  const auto account = accounts_.find(connection);
  if (account == accounts_.end()) {
    return {};
  }
  auto calls = std::move(account->second.calls);
  for (const auto& [number, call] : calls) {
    called_ -= call.bytes;
  }
  ahead_ -= account->second.ahead;
  set_due(connection, account->second, 0);
  returnable_.erase(connection);
  accounts_.erase(account);
  return calls;
}

void CallAccounts::give_up(Connection connection) {
  const auto account = accounts_.find(connection);
  if (account == accounts_.end()) {
    return;
  }
  account->second.is_given_up = true;
  set_due(connection, account->second, 0);
  keep_returnable(connection, account->second);
}

// ---- time

// The number of what was asked for first by name and is not settled; 0: nothing is open. Answers come in that order, so
// whatever else comes, it is this one that is late.
std::uint64_t CallAccounts::first_asked(const Account& account) {
  const auto call = account.calls.empty() ? 0 : account.calls.begin()->first;
  return call == 0 || account.return_asked == 0 ? call + account.return_asked : std::min(call, account.return_asked);
}

// From now on for what was asked for first of what is left.
void CallAccounts::await(const Connection& connection, Account& account, Micros now) {
  if (account.is_given_up) {
    return;
  }
  const auto first = first_asked(account);
  const auto call = account.calls.find(first);
  set_due(connection, account, first == 0 ? 0 : now + time_for(call == account.calls.end() ? 0 : call->second.bytes));
}

void CallAccounts::set_due(const Connection& connection, Account& account, Micros due) {
  if (account.due != 0) {
    due_.erase({account.due, connection});
  }
  account.due = due;
  if (due != 0) {
    due_.emplace(due, connection);
  }
}

std::vector<CallAccounts::Connection> CallAccounts::overdue(Micros read_up_at) {
  std::vector<Connection> overdue;
  while (!due_.empty() && due_.begin()->first <= read_up_at) {
    overdue.push_back(due_.begin()->second);
    give_up(overdue.back());
  }
  return overdue;
}

// ---- what is so

std::uint64_t CallAccounts::ahead_bytes(Connection connection) const {
  const auto account = accounts_.find(connection);
  return account == accounts_.end() ? 0 : account->second.ahead;
}

bool CallAccounts::is_asked_to_return(Connection connection) const {
  const auto account = accounts_.find(connection);
  return account != accounts_.end() && account->second.return_asked != 0;
}

const std::map<std::uint64_t, OpenCall>& CallAccounts::calls(Connection connection) const {
  static const std::map<std::uint64_t, OpenCall> none;
  const auto account = accounts_.find(connection);
  return account == accounts_.end() ? none : account->second.calls;
}

void CallAccounts::keep_returnable(const Connection& connection, const Account& account) {
  if (account.ahead > 0 && account.return_asked == 0 && !account.is_given_up) {
    returnable_.insert(connection);
  } else {
    returnable_.erase(connection);
  }
}

void CallAccounts::forget_if_empty(Accounts::iterator account) {
  const auto& own = account->second;
  if (own.calls.empty() && own.ahead == 0 && own.return_asked == 0) {
    set_due(account->first, account->second, 0);
    accounts_.erase(account);
  }
}

}  // namespace ballast
