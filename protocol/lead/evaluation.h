// A split's evaluation on one version, cut into items that sessions work off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// An item's result counts once, whoever brings it; results are summed in item order. Each call but total() costs the
// logarithm of the items.
class EvaluationBoard {
 public:
  struct Total {
    double loss = 0;      // mean over the examples
    double accuracy = 0;  // share of right answers
    std::uint64_t examples = 0;
    std::vector<Metric> metrics = {};
  };

  EvaluationBoard() = default;
  EvaluationBoard(Split split, Version version, std::uint32_t examples, std::uint32_t examples_per_item,
                  const MetricRules& metrics = {});

  // Whether there is an item that nobody has.
  [[nodiscard]] bool has_free() const { return !free_.empty(); }
  // The first of these, for a session that holds none.
  std::optional<Evaluation> take(SessionId session);
  // An item that others hold goes to a session that holds none as well.
  void copy(std::uint32_t item, SessionId session) { hold(item, session); }
  // Open items that somebody holds, and who.
  using Held = std::map<std::uint32_t, std::vector<SessionId>>;
  [[nodiscard]] const Held& held() const { return held_; }
  // Nobody, if nobody holds it or it is done.
  [[nodiscard]] std::vector<SessionId> holders(std::uint32_t item) const;
  // The item that a session holds and that is still open.
  [[nodiscard]] std::optional<Evaluation> ordered_from(SessionId session) const;
  // Who holds another item than when this was asked last, or none any more.
  std::set<SessionId> take_changed() { return std::exchange(changed_, {}); }
  // False if the result is not of this board, is known already or counts something else than this job's.
  bool put(const EvaluationResult& result);
  void lose(SessionId session);

  [[nodiscard]] bool done() const { return open_ == 0; }
  [[nodiscard]] Total total() const;
  [[nodiscard]] Split split() const { return split_; }

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(items_), listed::plain(free_, open_, split_, version_, metrics_, counts_, held_),
                       listed::fixed(items_of_, changed_));
  }

 private:
  struct Item {
    Evaluation evaluation;
    std::optional<EvaluationResult> result;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(evaluation, result));
    }
  };
  void hold(std::uint32_t item, SessionId session);
  // Nobody holds the item any more.
  void let_go(std::uint32_t item);

  std::vector<Item> items_;
  std::set<std::uint32_t> free_;  // open, and held by nobody
  std::size_t open_ = 0;
  Split split_ = Split::test;
  Version version_ = 0;
  MetricRules metrics_;
  std::vector<std::uint64_t> counts_;  // of all results; each item keeps its sums, which have an order
  Held held_;
  std::map<SessionId, std::uint32_t> items_of_;  // what each holds
  std::set<SessionId> changed_;
};

}  // namespace ballast
