// The lead's part in snapshots: which are complete, missed, kept, and copied elsewhere.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"
#include "protocol/lead/validation.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

SnapshotView Lead::snapshots() const {
  const auto end = phase_ == Phase::finishing ? std::optional<Step>(leg_.barrier) : std::nullopt;
  return {shards_, course_, evaluations_, timeline(), end};
}

void Lead::observe_snapshots() {
  if (!shards_.all([&](const LeadLane& lane) { return lane.report.serving && lane.report.timeline == timeline(); })) {
    return;
  }
  if (phase_ != Phase::training) {
    course_.observe_idle(shards_, now_);
  }
  const auto view = snapshots();
  for (const auto id : view.held_by_all()) {
    // Never before the training loss up to it is known as well.
    if (id > book_.current().complete.back() && id.step <= log_.next() &&
        (schedule_.ordered().contains(id.step) || view.is_still_a_cut(id.step)) && !view.why_missed(id.step)) {
      complete_snapshot(id);
    }
  }
  for (const auto id : view.being_written()) {
    if (id > book_.current().complete.back()) {
      schedule_.order(id.step);
    }
  }
  const auto ordered = schedule_.ordered();
  for (const auto step : ordered) {
    if (const auto why = view.why_missed(step)) {
      miss_snapshot(step, *why);
    }
  }
}

void Lead::complete_snapshot(SnapshotId id) {
  auto& ledger = book_.edit();
  ledger.complete.push_back(id);
  schedule_.close_through(id.step);
  trouble_.clear();
  update_best();
  observe_copies();  // it may be the next to be copied
  forget_superseded(ledger, std::max<std::size_t>(config_.snapshots_kept, 1));
  const Step epoch = id.step - id.step % config_.steps_per_epoch;
  log_.forget_before(epoch - std::min(epoch, config_.steps_per_epoch));
}

void Lead::miss_snapshot(Step step, const std::string& why) {
  schedule_.close(step);
  ++book_.edit().snapshots_missed;
  if (!why.empty()) {
    trouble_ = "the snapshot of step " + std::to_string(step) + " could not be written: " + why;
  }
  if (phase_ == Phase::finishing && step == leg_.barrier) {
    return fail(trouble_.empty() ? "the final snapshot, of step " + std::to_string(step) + ", was not taken"
                                 : trouble_);
  }
  if (pauses_.hold() == step) {
    if (!why.empty()) {
      return hold_later();
    }
    hold();  // the shards had passed it
  }
}

void Lead::update_best() {
  const auto* best = best_validation(evaluations_.records());
  if (!config_.keep_best || best == nullptr) {
    return;
  }
  for (const auto id : book_.current().complete) {
    if (id.step == best->step && book_.current().best != id) {
      book_.edit().best = id;
    }
  }
}

// ---- copies

// Of all shards: what one that is away has copied is asked again when it is back.
std::vector<CopyPart> Lead::copy_parts() const {
  std::vector<CopyPart> parts;
  if (!config_.copies) {
    return parts;
  }
  for (std::uint32_t shard = 0; shard < config_.shards; ++shard) {
    const auto lane = shards_.lanes().find({shard, 0});
    parts.push_back(lane == shards_.lanes().end()
                        ? CopyPart{shard, {}, {}}
                        : CopyPart{shard, lane->second.report.copy, lane->second.report.trouble});
  }
  return parts;
}

// Copies are of the run, not of a timeline: what is complete stays so, whatever the job goes back to.
void Lead::observe_copies() {
  if (book_.current().complete.empty() || is_over()) {
    return;
  }
  auto ledger = book_.current();
  if (copies_.follow(ledger, copy_parts())) {
    book_.edit() = std::move(ledger);
  }
}

bool Lead::awaits_copy() const {
  return copies_.awaits(book_.durable(), book_.current().complete.back(), copy_parts());
}

}  // namespace ballast
