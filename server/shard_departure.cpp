// How a server goes that is told to end.
#include <mutex>

#include "server/shard.h"

namespace ballast {

// Before its lanes are there nobody is served by it.
void Shard::depart(const std::string& reason) {
  {
    const std::scoped_lock lock(mutex_);
    departure_.told_to_end(reason);
    if (is_open_) {
      for (auto& lane : lanes_) {
        lane->depart();
      }
      return let_lead_go();
    }
  }
  interrupt(reason);
}

void Shard::left(const lane::Leave& leave) {
  std::unique_lock lock(mutex_);
  if (!leave.lost.empty()) {
    departure_.lost(leave.lost);  // the lane's loop ends with it
    return;
  }
  if (leave.whole) {
    const auto reason = departure_.reason();
    lock.unlock();
    return interrupt(reason);
  }
  departure_.let_go();
}

void Shard::over(const LaneLoop& /*lane*/) {
  const std::scoped_lock lock(mutex_);
  ++lanes_over_;
  let_lead_go();
}

// Its loop is needed until the last lane has heard from it. Those of a server that is told to end are over by that, or
// were before, by the job's end: of this others may have to hear yet.
void Shard::let_lead_go() {
  if (!departure_.is_told() || lanes_over_ < lanes_.size() || !lead_) {
    return;
  }
  if (departure_.is_let_go() && failure_.empty()) {
    lead_->interrupt({});
  } else {
    lead_->stay_no_longer();
  }
}

Departure Shard::departure() const {
  const std::scoped_lock lock(mutex_);
  return departure_.of(failure_);
}

std::string Shard::what_is_left() const {
  const std::string again = "started again with the same command line it goes on from ";
  const std::string nothing = "nothing of the job is in its database yet";
  if (!store_) {
    return nothing;
  }
  if (const auto timeline = store_->timeline(); timeline.ok() && !timeline.value()) {
    return nothing;
  }
  if (journal_) {
    return again + "all that its journal holds, in which every promised update is";
  }
  if (options_.shard > 0) {
    return again + "the newest complete snapshot, which shard 0's ledger names (`ballast inspect`)";
  }
  const auto content = store_->read_ledger();
  return content.ok() && !content.value().ledger.complete.empty()
             ? again + "the snapshot of step " + std::to_string(content.value().ledger.complete.back().step)
             : again + "its newest complete snapshot";
}

}  // namespace ballast
