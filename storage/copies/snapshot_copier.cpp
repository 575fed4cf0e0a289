#include "storage/copies/snapshot_copier.h"

#include <algorithm>
#include <exception>
#include <set>
#include <tuple>
#include <utility>

#include "common/log/log.h"

namespace ballast {
namespace {

constexpr std::chrono::milliseconds kLongestRetry{30'000};

// As a run has it that begins anew from this snapshot, and copies anew.
Ledger ledger_at(Ledger ledger, const SnapshotId& snapshot) {
  ledger.timeline = std::max(ledger.timeline, snapshot.timeline);
  ledger.base = snapshot;
  ledger.complete = {snapshot};
  ledger.copies = {};
  ledger.copies_in = 0;
  ledger.copy_lives.clear();
  ledger.named_before = {};
  if (ledger.best != snapshot) {
    ledger.best.reset();
  }
  if (ledger.finished != snapshot) {
    ledger.finished.reset();
  }
  return ledger;
}

StoreResult<Identity> identity_of(const ShardStore& store) {
  const auto identity = store.identity();
  if (!identity.ok()) {
    return identity.status();
  }
  return identity.value() ? StoreResult<Identity>(*identity.value())
                          : StoreStatus{StoreCode::corrupt, store.path() + ": the database has no identity"};
}

}  // namespace

SnapshotCopier::SnapshotCopier(const ShardStore& store, std::unique_ptr<CopyPlace> place, CopierSettings settings,
                               CopySeries series)
    : store_(store), place_(std::move(place)), settings_(settings), series_(std::move(series)), thread_([this] {
        set_log_prefix("copies: ");
        work();
      }) {}

SnapshotCopier::~SnapshotCopier() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SnapshotCopier::follow(const CopyState& copies) {
  {
    const std::scoped_lock lock(mutex_);
    const bool is_other = std::tie(copies.run, copies.life) != std::tie(copies_.run, copies_.life);
    if (is_other || (copies.named != SnapshotId{} && copies.named != progress_.snapshot)) {
      progress_ = {copies.run, copies.named, 0, 0, false, false};
      retry_at_ = {};
    }
    if (is_other) {
      looking_since_.reset();
    }
    copies_ = copies;
  }
  changed_.notify_all();
}

bool SnapshotCopier::drain(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return cleaned_ == copies_; });
}

CopyProgress SnapshotCopier::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

std::string SnapshotCopier::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

// ---- the thread

SnapshotCopier::Work SnapshotCopier::next() const {
  if (!(cleaned_ == copies_)) {
    return Work::clean;
  }
  const bool is_due = copies_.named != SnapshotId{} && !progress_.taken && Clock::now() >= retry_at_;
  return is_due ? Work::copy : Work::none;
}

void SnapshotCopier::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto has_work = [this] { return ending_ || next() != Work::none; };
    if (copies_.named != SnapshotId{} && !progress_.taken) {
      changed_.wait_until(lock, retry_at_, has_work);
    } else {
      changed_.wait(lock, has_work);
    }
    if (ending_) {
      return;
    }
    const auto what = next();
    const auto copies = copies_;
    lock.unlock();
    if (what == Work::copy) {
      copy_named(copies);
    } else if (what == Work::clean) {
      clean(copies);
    }
    lock.lock();
  }
}

void SnapshotCopier::copy_named(const CopyState& copies) {
  StoreStatus status;
  try {
    status = copy(copies);
  } catch (const std::exception& error) {  // libcurl or libcrypto cannot be used
    status = {StoreCode::io, error.what()};
  }
  if (!status.ok() && !given_up(copies.run, copies.named)) {
    note_failure(copies.named, status.text());
  }
}

StoreStatus SnapshotCopier::copy(const CopyState& copies) {
  const auto identity = identity_of(store_);
  if (!identity.ok()) {
    return identity.status();
  }
  if (progress().done) {
    look_again(copies, identity.value());
    return {};
  }
  const auto may = may_touch(copies, identity.value());
  if (!may.ok() || !may.value()) {
    return may.ok() ? StoreStatus{} : may.status();
  }
  const CopyName name{copied_job(identity.value()), copies.named, identity.value().shard, identity.value().shards,
                      copies.run};
  bool gone = false;
  auto written = write_copy(name, gone);
  if (written.ok() && !gone) {
    note_done(name);
  }
  return gone ? StoreStatus{StoreCode::missing, "it is not in the database any more"} : written;
}

void SnapshotCopier::note_done(const CopyName& name) {
  series_.copied(name.snapshot.step);
  log_info("the snapshot of {} was copied to {}", describe(name.snapshot), place_->describe(to_string(name)));
  const std::scoped_lock lock(mutex_);
  trouble_.clear();
  if (progress_.run == name.run && progress_.snapshot == name.snapshot) {
    progress_.done = true;
    retry_at_ = Clock::now() + settings_.look;
  }
}

void SnapshotCopier::note_failure(const SnapshotId& snapshot, const std::string& why) {
  const auto text = "the snapshot of " + describe(snapshot) + " was not copied (it is tried again): " + why;
  series_.failed->add();
  log_error("{}", text);
  const std::scoped_lock lock(mutex_);
  trouble_ = text;
  auto pause = settings_.retry;
  for (std::uint32_t failed = progress_.failures; failed > 0 && pause < kLongestRetry; --failed) {
    pause *= 2;
  }
  retry_at_ = Clock::now() + std::min(pause, kLongestRetry);
  progress_.bytes = 0;
  ++progress_.failures;
}

bool SnapshotCopier::given_up(RunId run, const SnapshotId& snapshot) const {
  const std::scoped_lock lock(mutex_);
  return ending_ || copies_.run != run || copies_.named != snapshot;
}

void SnapshotCopier::count(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.bytes += bytes;
}

// ---- whose the run's copies are

StoreResult<bool> SnapshotCopier::may_touch(const CopyState& copies, const Identity& identity) {
  const auto run = run_prefix(copied_job(identity), copies.run);
  return identity.shard == 0 ? claim_run(copies, run) : find_hold(copies, run);
}

StoreResult<bool> SnapshotCopier::claim_run(const CopyState& copies, const std::string& run) {
  const auto content = store_.read_ledger();
  if (!content.ok()) {
    return content.status();
  }
  const auto& ledger = content.value().ledger;
  const auto claimed = claim(*place_, run,
                             {copies.life, ledger.copy_lives, ledger.named_before,
                              std::max(ledger.named_before, newest_named(ledger.copies)), ledger.timeline});
  if (!claimed.ok()) {
    return claimed.status();
  }
  if (claimed.value() == Claimed::held) {
    return true;
  }
  log_warn(
      "{}: another job goes on under this run's name, from a copy of this run's folder or under the same "
      "durability.run; this one copies under a new name, or not at all if its job file names it",
      place_->describe(run));
  const std::scoped_lock lock(mutex_);
  if (std::tie(copies_.run, copies_.life) == std::tie(copies.run, copies.life)) {
    progress_ = {copies.run, copies_.named, 0, 0, false, true};
  }
  return false;
}

// Shard 0 comes to it when it can, and a network file system may show it late.
StoreResult<bool> SnapshotCopier::find_hold(const CopyState& copies, const std::string& run) {
  auto held = is_held(*place_, run, copies.life);
  if (!held.ok()) {
    return held;
  }
  const std::scoped_lock lock(mutex_);
  if (held.value()) {
    looking_since_.reset();
    return true;
  }
  looking_since_ = looking_since_.value_or(Clock::now());
  const auto looked = Clock::now() - *looking_since_;
  const StoreStatus why{
      StoreCode::missing,
      place_->describe(run) +
          ": shard 0 has left no mark here. Either it cannot copy, or this is not where it copies to: "
          "durability.copy_to must be one place that the machines of all shards share"};
  if (looked >= settings_.hold_fails) {
    return why;
  }
  if (looked >= settings_.hold_missed) {
    trouble_ = why.text();
  }
  retry_at_ = Clock::now() + settings_.retry;
  return false;
}

// The job of a copied folder may take the name while other shards still copy, who then wait for this one's word.
void SnapshotCopier::look_again(const CopyState& copies, const Identity& identity) {
  if (identity.shard == 0) {
    const auto held = claim_run(copies, run_prefix(copied_job(identity), copies.run));
    if (!held.ok()) {  // the part is copied: that the place cannot be asked now is no failure
      log_debug("{}", held.status().text());
    }
  }
  const std::scoped_lock lock(mutex_);
  retry_at_ = Clock::now() + settings_.look;
}

// ---- writing

StoreStatus SnapshotCopier::write_copy(const CopyName& name, bool& gone) {
  const auto ours = [&](const std::string& object) {
    const auto parsed = parse_copy_name(object);
    const auto losses = parse_losses_name(object);
    return (parsed && parsed->shard == name.shard && parsed->shards == name.shards) || (losses && name.shard == 0);
  };
  if (const auto cleaned = place_->remove_unfinished(run_prefix(name.job, name.run), ours); !cleaned.ok()) {
    log_warn("what an upload that was killed has left may stay: {}", cleaned.text());
  }
  // An earlier life of this shard may have been killed before it could say so. What it wrote by another key, or
  // without one, is written anew: a set is of one kind.
  if (auto there = place_->look(to_string(name)); there.ok() || there.code() == StoreCode::io) {
    return there;
  }
  if (name.shard == 0) {
    if (auto status = losses_.write(*place_, store_, name); !status.ok()) {
      return status;
    }
  }
  return write_object(name, gone);
}

StoreStatus SnapshotCopier::write_object(const CopyName& name, bool& gone) {
  auto writer = place_->write(to_string(name));
  if (!writer.ok()) {
    return writer.status();
  }
  CopyEncoder encoder(*writer.value(), name);
  const auto identity = store_.store().get(kIdentityKey);
  if (!identity.ok()) {
    return identity.status();
  }
  if (auto status = encoder.entry(kIdentityKey, identity.value().value_or("")); !status.ok()) {
    return status;
  }
  if (auto status = write_snapshot(encoder, name, gone); !status.ok() || gone) {
    return status;
  }
  if (name.shard == 0) {
    if (auto status = write_ledger(encoder, name.snapshot); !status.ok()) {
      return status;
    }
  }
  return encoder.finish();
}

// Record by record: the snapshot stays as long as it is named, so that the database need not be read at one go, and can
// be closed and opened again by those who write while the place takes its time.
StoreStatus SnapshotCopier::write_snapshot(CopyEncoder& encoder, const CopyName& name, bool& gone) {
  const auto& snapshot = name.snapshot;
  const auto& store = store_.store();
  const auto end = after_prefix(snapshot_prefix(snapshot));
  std::size_t chunks = 0;
  for (auto from = snapshot_prefix(snapshot);;) {
    if (given_up(name.run, snapshot)) {
      return {StoreCode::io, "it is not wanted any more"};
    }
    const auto key = store.first_key(from);
    if (!key.ok()) {
      return key.status();
    }
    if (!key.value() || *key.value() >= end) {
      break;
    }
    const auto record = store.get(*key.value());
    if (!record.ok()) {
      return record.status();
    }
    if (!record.value()) {
      gone = true;
      return {};
    }
    if (const auto checked = check_record(*key.value(), *record.value()); !checked.ok()) {
      return {checked.code(), store_.path() + ": key " + *key.value() + ": " + checked.text()};
    }
    const auto tensor = *parse_tensor_key(*key.value());
    if (auto status = encoder.entry(*key.value(), *record.value()); !status.ok()) {
      return status;
    }
    count(record.value()->size());
    chunks += tensor.kind == TensorKind::weights ? 1 : 0;
    from = *key.value() + '\0';
  }
  gone = chunks == 0 && settings_.chunks > 0;
  if (!gone && chunks != settings_.chunks) {
    return {StoreCode::corrupt, store_.path() + ": the snapshot of " + describe(snapshot) + " has " +
                                    std::to_string(chunks) + " chunks here, expected " +
                                    std::to_string(settings_.chunks)};
  }
  return {};
}

StoreStatus SnapshotCopier::write_ledger(CopyEncoder& encoder, const SnapshotId& snapshot) {
  const auto content = store_.read_ledger();
  if (!content.ok()) {
    return content.status();
  }
  auto status = encoder.entry(kLedgerKey, encode(ledger_at(content.value().ledger, snapshot)));
  for (const auto& evaluation : content.value().evaluations) {
    if (status.ok() && evaluation.step <= snapshot.step) {
      status = encoder.entry(evaluation_key(evaluation.step, evaluation.split), encode(evaluation));
    }
  }
  const auto statistics = store_.read_statistics(losses_blocks(snapshot.step) * kLossesInBlock, snapshot.step);
  if (!statistics.ok()) {
    return statistics.status();
  }
  for (const auto& step : statistics.value()) {
    if (status.ok()) {
      status = encoder.entry(statistics_key(step.step), encode(step));
    }
  }
  return status;
}

// ---- removing

void SnapshotCopier::clean(const CopyState& copies) {
  StoreStatus removed;
  try {
    removed = remove_superseded(copies);
  } catch (const std::exception& error) {
    removed = {StoreCode::io, error.what()};
  }
  if (!removed.ok()) {
    log_warn("old copies stay for now: {}", removed.text());
  }
  const std::scoped_lock lock(mutex_);
  cleaned_ = copies;
  changed_.notify_all();
}

// One snapshot is named at a time, each newer than those before: what is older and not whole will never be. Of the
// run's whole sets the newest stay, and the one that the lead counts as the newest in any case. Sets of other runs are
// not ours.
StoreStatus SnapshotCopier::remove_superseded(const CopyState& copies) {
  const auto identity = identity_of(store_);
  if (!identity.ok()) {
    return identity.status();
  }
  if (identity.value().shard != 0) {
    return {};
  }
  const auto may = may_touch(copies, identity.value());
  if (!may.ok() || !may.value()) {
    return may.ok() ? StoreStatus{} : may.status();
  }
  const auto job = copied_job(identity.value());
  const auto names = place_->list(run_prefix(job, copies.run));
  if (!names.ok()) {
    return names.status();
  }
  auto grouped = group_copies(names.value());
  const auto& sets = grouped[job];
  const auto newest = std::max(copies.named, copies.complete);
  std::uint32_t newer = 0;  // complete ones
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    const bool is_superseded = !set->has_all_shards() || newer >= std::max(settings_.keep, 1U);
    if (set->snapshot < newest && set->snapshot != copies.complete && is_superseded) {
      for (const auto& object : set->objects) {
        if (auto removed = object.empty() ? StoreStatus{} : place_->remove(object); !removed.ok()) {
          return removed;
        }
      }
    }
    newer += set->has_all_shards() ? 1 : 0;
  }
  return {};
}

}  // namespace ballast
