// The bytes of contributions that a lane has asked for and that may still come, by connection.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// A call that is not settled.
struct OpenCall {
  Timeline timeline = 0;
  Work work;
  std::uint64_t bytes = 0;
  PayerId payer = 0;
  bool operator==(const OpenCall&) const = default;
};

// Bytes are asked for by calls, which have names, or given ahead, and stay in use until they are settled: by the
// payload, by the word that there is none, by being returned, by the end of the connection. Nothing else settles them:
// what a session that is silent or dead was called for may still come, and so may what an old connection carries.
// Costs by the logarithm of what is open. Pure and copyable. Not thread-safe.
class CallAccounts {
 public:
  using Connection = std::pair<SessionId, ConnectionId>;

  // `overdue`: how long what is asked for by name may take, and longer by its size.
  explicit CallAccounts(Micros overdue) : overdue_(overdue) {}

  // ---- what is asked for
  void call(Connection connection, std::uint64_t number, const OpenCall& call, Micros now);
  void give_ahead(Connection connection, std::uint64_t bytes);
  void ask_return(Connection connection, std::uint64_t number, Micros now);

  // ---- what settles it
  // The call of that number, which is settled; none: there is none.
  std::optional<OpenCall> settle(Connection connection, std::uint64_t number, Micros now);
  // Bytes given ahead are spent; false: it has not so many.
  bool spend(Connection connection, std::uint64_t bytes);
  // Bytes given ahead come back; false: it has not so many, or was not asked by this number (0: unasked).
  bool returned(Connection connection, std::uint64_t number, std::uint64_t bytes, Micros now);
  // The calls that are settled by it, by number.
  std::map<std::uint64_t, OpenCall> ended(Connection connection);
  // It has been dropped, or another one has taken its place: nothing more is asked of it, and nothing is overdue.
  void give_up(Connection connection);

  // The connections of which something that was asked for by name has not come in its time, though nothing was left
  // unread at `read_up_at`; each is told once. Whatever is asked for of them is asked for in vain.
  std::vector<Connection> overdue(Micros read_up_at);

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t ahead_bytes() const { return ahead_; }
  [[nodiscard]] std::uint64_t ahead_bytes(Connection connection) const;
  // Something that was asked for may still come over it.
  [[nodiscard]] bool owes(Connection connection) const { return accounts_.contains(connection); }
  [[nodiscard]] bool is_asked_to_return(Connection connection) const;
  // By number.
  [[nodiscard]] const std::map<std::uint64_t, OpenCall>& calls(Connection connection) const;
  // The connections that have bytes given ahead and were not asked to return them.
  [[nodiscard]] const std::set<Connection>& returnable() const { return returnable_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(overdue_), listed::parts(accounts_),
                       listed::fixed(due_, returnable_, called_, ahead_));
  }

 private:
  struct Account {
    std::map<std::uint64_t, OpenCall> calls;  // by number
    std::uint64_t ahead = 0;
    std::uint64_t return_asked = 0;  // by that number, and not answered; 0: no
    Micros due = 0;                  // of what was asked for by name first; 0: nothing is, or it was told
    bool is_given_up = false;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(calls, ahead), listed::names(return_asked), listed::ages(due),
                         listed::plain(is_given_up));
    }
  };
  using Accounts = std::map<Connection, Account>;

  static std::uint64_t first_asked(const Account& account);
  void await(const Connection& connection, Account& account, Micros now);
  void set_due(const Connection& connection, Account& account, Micros due);
  void keep_returnable(const Connection& connection, const Account& account);
  void forget_if_empty(Accounts::iterator account);

  [[nodiscard]] Micros time_for(std::uint64_t bytes) const;

  Micros overdue_;
  Accounts accounts_;
  // These follow from the accounts.
  std::set<std::pair<Micros, Connection>> due_;
  std::set<Connection> returnable_;
  std::uint64_t called_ = 0;
  std::uint64_t ahead_ = 0;
};

}  // namespace ballast
