// The lead's part in snapshots: which are complete, missed, kept, and copied elsewhere.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"
#include "protocol/lead/validation.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

// ---- cuts

// What cuts rest on: in a journaled job, what is durable.
const Ledger& Lead::facts() const { return course_.resumes_shards() ? book_.durable() : book_.current(); }

Ledger& Lead::edit_facts() { return course_.resumes_shards() ? book_.edit() : book_.remember(); }

// By their reports on the newest plans.
bool Lead::all_stand_at(Step step) const {
  return named_.limit == limit() && course_.is_cut(shards_, step, {config_.life, named_.number});
}

// All stop there: it becomes a fact before anything rests on it.
void Lead::come_to_cut() {
  const Step here = stand();
  if (!course_.has_cuts() || *book_.current().cut >= here || course_.open_step() < here || !all_stand_at(here)) {
    return;
  }
  edit_facts().cut = here;
  const bool is_due = course_.is_due_at(here) && book_.current().kept.empty();
  if (is_due || pauses_.hold() == here || here == config_.steps) {
    return keep(here);
  }
  if (course_.is_due_at(here)) {
    ++book_.remember().snapshots_missed;
  }
}

// A snapshot of the step is ordered: of a cut together with it, or with its evaluation, so that nobody goes beyond it
// without the order, whichever lead sends the plan.
void Lead::keep(Step step) {
  if (!course_.has_cuts()) {
    return schedule_.order(step);
  }
  const auto& kept = book_.current().kept;
  if (std::ranges::find(kept, step) == kept.end()) {
    edit_facts().kept.push_back(step);
  }
  order_kept();
}

void Lead::order_kept() {
  const auto& kept = book_.current().kept;
  bool is_news = false;
  for (const auto step : facts().kept) {
    if (std::ranges::find(kept, step) != kept.end() && !schedule_.ordered().contains(step)) {
      schedule_.order(step);
      is_news = true;
    }
  }
  if (is_news) {
    send_plans();
  }
}

// ---- what becomes of them

SnapshotView Lead::snapshots() const { return {shards_, course_, timeline()}; }

void Lead::observe_snapshots() {
  if (!shards_.all_serve()) {
    return;
  }
  if (phase_ != Phase::training) {
    course_.observe_idle(shards_, shards_.take_news(), now_);
  }
  const auto view = snapshots();
  for (const auto id : view.held_by_all()) {
    // Never before the training loss up to it is known as well.
    if (id > book_.current().complete.back() && id.step <= log_.next() && schedule_.ordered().contains(id.step) &&
        !view.why_missed(id.step)) {
      complete_snapshot(id);
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
  std::erase_if(ledger.kept, [&](Step step) { return step <= id.step; });
  schedule_.close_through(id.step);
  if (pauses_.hold().value_or(id.step) < id.step) {
    hold();  // the shards had passed it
  }
  trouble_.clear();
  update_best();
  observe_copies();  // it may be the next to be copied
  forget_superseded(ledger, std::max<std::size_t>(config_.snapshots_kept, 1));
  shards_.hold(id, ledger.complete);
  const Step epoch = id.step - id.step % config_.steps_per_epoch;
  log_.forget_before(
      std::min(epoch - std::min(epoch, config_.steps_per_epoch), copies_.oldest(config_.snapshots_kept)));
}

void Lead::miss_snapshot(Step step, const std::string& why) {
  schedule_.close(step);
  auto& ledger = book_.edit();
  ++ledger.snapshots_missed;
  std::erase(ledger.kept, step);
  if (!why.empty()) {
    trouble_ = "the snapshot of step " + std::to_string(step) + " could not be written: " + why;
  }
  if (phase_ == Phase::finishing && step == barrier_) {
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
  const auto* best = best_validation(evaluations_.records(), config_.best_by);
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
