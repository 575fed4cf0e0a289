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

  // Whether there is an item that nobody has, or that somebody has for longer than `late`.
  [[nodiscard]] bool has_some(Micros now, Micros late) const;
  // The next item for a session that holds none: an item nobody has, else the one held longest if that is longer than
  // `late`.
  std::optional<Evaluation> take(SessionId session, Micros now, Micros late);
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
    return listed::all(listed::parts(items_), listed::plain(free_, open_, split_, version_, metrics_, counts_),
                       listed::fixed(held_, holders_, changed_));
  }

 private:
  struct Item {
    Evaluation evaluation;
    SessionId holder = 0;
    Micros given_at = 0;
    std::optional<EvaluationResult> result;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::plain(evaluation), listed::names(holder), listed::ages(given_at),
                         listed::plain(result));
    }
  };
  void hold(std::uint32_t item, SessionId session, Micros now);
  // Nobody holds the item any more.
  void let_go(std::uint32_t item);

  std::vector<Item> items_;
  std::set<std::uint32_t> free_;  // open, and held by nobody
  std::size_t open_ = 0;
  Split split_ = Split::test;
  Version version_ = 0;
  MetricRules metrics_;
  std::vector<std::uint64_t> counts_;                // of all results; each item keeps its sums, which have an order
  std::set<std::pair<Micros, std::uint32_t>> held_;  // open and held, by since when
  std::map<SessionId, std::uint32_t> holders_;       // of these
  std::set<SessionId> changed_;
};

}  // namespace ballast
