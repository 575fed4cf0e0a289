#include "protocol/lead/ledger_book.h"

#include <algorithm>
#include <utility>

namespace ballast {

LedgerBook::LedgerBook(Ledger restored, Step statistics_through)
    : current_(restored), durable_(std::move(restored)), statistics_through_(statistics_through) {}

Ledger& LedgerBook::edit() {
  wanted_ = true;
  return current_;
}

void LedgerBook::add(const StepStatistics& statistics) { pending_.statistics.push_back(statistics); }

void LedgerBook::add(const EvaluationRecord& evaluation) {
  pending_.evaluations.push_back(evaluation);
  wanted_ = true;
}

void LedgerBook::trim(Step step) {
  wanted_ = true;
  pending_.trim_from = std::min(step, pending_.trim_from.value_or(step));
  std::erase_if(pending_.statistics, [&](const StepStatistics& known) { return known.step >= step; });
  std::erase_if(pending_.evaluations, [&](const EvaluationRecord& known) { return known.step > step; });
}

bool LedgerBook::may_hold_pause() const {
  return current_.pause != Pause::none || durable_.pause != Pause::none ||
         (in_flight_ && in_flight_->ledger.pause != Pause::none);
}

void LedgerBook::flush_if_due(Micros now, Micros every, std::size_t most) {
  if (now - written_at_ >= every || pending_.statistics.size() >= most) {
    flush();
  }
}

std::optional<LedgerChange> LedgerBook::next(Micros now) {
  if (in_flight_ || !wanted_) {
    return std::nullopt;
  }
  wanted_ = false;
  written_at_ = now;
  in_flight_ = std::exchange(pending_, {});
  in_flight_->ledger = current_;
  return in_flight_;
}

void LedgerBook::written() {
  if (!in_flight_) {
    return;
  }
  durable_ = in_flight_->ledger;
  if (in_flight_->trim_from) {
    statistics_through_ = std::min(statistics_through_, *in_flight_->trim_from);
  }
  if (!in_flight_->statistics.empty()) {
    statistics_through_ = in_flight_->statistics.back().step + 1;
  }
  in_flight_.reset();
}

}  // namespace ballast
