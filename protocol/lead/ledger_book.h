// The lead's side of its ledger: what it has decided, what of that is durable, and what is to be written next.
#pragma once

#include <optional>
#include <vector>

#include "protocol/ledger.h"
#include "protocol/state_list.h"

namespace ballast {

// The lead acts outwardly on `durable()` alone. One change is written at a time; what comes up meanwhile joins the
// next.
class LedgerBook {
 public:
  // `restored` is durable; its statistics reach up to `statistics_through`.
  LedgerBook(Ledger restored, Step statistics_through);

  [[nodiscard]] const Ledger& current() const { return current_; }
  [[nodiscard]] const Ledger& durable() const { return durable_; }
  // Statistics of steps before this one are durable.
  [[nodiscard]] Step statistics_through() const { return statistics_through_; }

  // Change the record; it is to be written soon.
  Ledger& edit();
  // Change the record, in what need not be durable: it is written with the next change.
  Ledger& remember() { return current_; }
  // To be written with the next change of the record, or by flush().
  void add(const StepStatistics& statistics);
  void add(const EvaluationRecord& evaluation);
  // Forget statistics of steps >= step and evaluations of versions > step.
  void trim(Step step);
  void flush() { wanted_ = wanted_ || !pending_.statistics.empty(); }
  // Flushes if nothing was written for so long, or so many statistics wait.
  void flush_if_due(Micros now, Micros every, std::size_t most);

  // Whether a lead that starts now may find a pause.
  [[nodiscard]] bool may_hold_pause() const;

  // All evaluations are durable.
  [[nodiscard]] bool evaluations_written() const {
    return pending_.evaluations.empty() && (!in_flight_ || in_flight_->evaluations.empty());
  }

  // What is to be written now, if anything, and nothing is being written.
  std::optional<LedgerChange> next(Micros now);
  // What next() gave is durable.
  void written();

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(current_, durable_, statistics_through_, pending_, in_flight_, wanted_),
                       listed::ages(written_at_));
  }

 private:
  Ledger current_;
  Ledger durable_;
  Step statistics_through_;
  LedgerChange pending_;  // but for its record
  std::optional<LedgerChange> in_flight_;
  bool wanted_ = false;
  Micros written_at_ = 0;
};

}  // namespace ballast
