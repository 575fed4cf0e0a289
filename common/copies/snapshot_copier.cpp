#include "common/copies/snapshot_copier.h"

#include <algorithm>
#include <exception>

#include "common/log/log.h"

namespace ballast {
namespace {

// As a run has it that begins anew from this snapshot.
Ledger ledger_at(Ledger ledger, const SnapshotId& snapshot) {
  ledger.timeline = std::max(ledger.timeline, snapshot.timeline);
  ledger.base = snapshot;
  ledger.complete = {snapshot};
  if (ledger.best != snapshot) {
    ledger.best.reset();
  }
  if (ledger.finished != snapshot) {
    ledger.finished.reset();
  }
  return ledger;
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

void SnapshotCopier::copy(const SnapshotId& snapshot) {
  {
    const std::scoped_lock lock(mutex_);
    if ((next_ && snapshot <= *next_) || (done_ && snapshot <= *done_)) {
      return;
    }
    next_ = snapshot;
  }
  changed_.notify_all();
}

bool SnapshotCopier::drain(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return !next_ && !busy_; });
}

void SnapshotCopier::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || next_; });
    if (ending_) {
      return;
    }
    const auto snapshot = *next_;
    next_.reset();
    busy_ = true;
    done_ = snapshot;
    lock.unlock();
    try {
      copy_one(snapshot);
    } catch (const std::exception& error) {  // libcurl or libcrypto cannot be used
      note_failure(snapshot, error.what());
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void SnapshotCopier::note_failure(const SnapshotId& snapshot, const std::string& why) {
  const auto text = "the snapshot of " + describe(snapshot) + " was not copied (the next one will be tried): " + why;
  series_.failed->add();
  log_error("{}", text);
  const std::scoped_lock lock(mutex_);
  trouble_ = text;
}

std::string SnapshotCopier::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

StoreStatus SnapshotCopier::ending() const {
  return ending_ ? StoreStatus{StoreCode::io, "the server is leaving"} : StoreStatus{};
}

void SnapshotCopier::copy_one(const SnapshotId& snapshot) {
  const auto identity = store_.identity();
  if (!identity.ok() || !identity.value()) {
    note_failure(snapshot, identity.ok() ? "the database has no identity" : identity.status().text());
    return;
  }
  const CopyName name{copied_job(*identity.value()), snapshot, identity.value()->shard, identity.value()->shards};
  bool vanished = false;
  const auto written = write_object(name, vanished);
  if (vanished) {
    log_info("the snapshot of {} is not copied: it has been superseded", describe(snapshot));
    return;
  }
  if (!written.ok()) {
    note_failure(snapshot, written.text());
    return;
  }
  series_.copied(snapshot.step);
  {
    const std::scoped_lock lock(mutex_);
    trouble_.clear();
  }
  log_info("the snapshot of {} was copied to {}", describe(snapshot), place_->describe(to_string(name)));
  if (const auto removed = remove_old(name.job); !removed.ok()) {
    log_warn("old copies stay: {}", removed.text());
  }
}

StoreStatus SnapshotCopier::write_object(const CopyName& name, bool& vanished) {
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
  if (auto status = write_snapshot(encoder, name.snapshot, vanished); !status.ok() || vanished) {
    return status;
  }
  if (name.shard == 0) {
    if (auto status = write_ledger(encoder, name.snapshot); !status.ok()) {
      return status;
    }
  }
  return encoder.finish();
}

// Of one view of the database: a snapshot that is deleted meanwhile is copied as a whole, or was gone before.
StoreStatus SnapshotCopier::write_snapshot(CopyEncoder& encoder, const SnapshotId& snapshot, bool& vanished) {
  std::size_t chunks = 0;
  StoreStatus status;
  const auto scanned =
      store_.store().scan(snapshot_prefix(snapshot), [&](std::string_view key, std::string_view record) {
        status = ending();
        if (status.ok()) {
          status = check_record(key, record);
          if (!status.ok()) {
            status = {status.code(), store_.path() + ": key " + std::string(key) + ": " + status.text()};
          }
        }
        if (status.ok()) {
          const auto tensor = *parse_tensor_key(key);
          status = encoder.entry(tensor_key(tensor), record);  // a snapshot of format 2 may have had another
          chunks += tensor.kind == TensorKind::weights ? 1 : 0;
        }
        return status.ok();
      });
  if (!scanned.ok() || !status.ok()) {
    return scanned.ok() ? status : scanned;
  }
  vanished = chunks == 0 && settings_.chunks > 0;
  if (!vanished && chunks != settings_.chunks) {
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
  const auto statistics = store_.read_statistics(0, snapshot.step);
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

// Whoever makes a set whole removes what is older than those that stay, of all shards.
StoreStatus SnapshotCopier::remove_old(const std::string& job) {
  const auto names = place_->list();
  if (!names.ok()) {
    return names.status();
  }
  auto grouped = group_copies(names.value());
  const auto& sets = grouped[job];
  std::uint32_t complete = 0;
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    for (const auto& object : set->objects) {
      if (complete < std::max(settings_.keep, 1U) || object.empty()) {
        continue;
      }
      if (auto removed = place_->remove(object); !removed.ok()) {
        return removed;
      }
    }
    complete += set->complete() ? 1 : 0;
  }
  return {};
}

}  // namespace ballast
