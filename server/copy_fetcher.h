// What a server whose disk is lost gets from the copies of its run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/job/job.h"
#include "protocol/lane/lane_events.h"
#include "server/disk_room.h"
#include "storage/copies/place.h"
#include "storage/copies/run_copies.h"
#include "storage/store/shard_store.h"

namespace ballast {

// The run that the job file names (durability.run), by which the place of copies knows it; 0: it names none.
RunId named_run(const JobSpec& spec);
// What tells the job's place of copies from another in the ledger; never 0.
std::uint64_t place_number(const DurabilitySpec& durability);

// The job's place of copies, as its servers open it.
CopyTarget copy_target(const DurabilitySpec& durability, bool has_to_be_there);

// Looks for the run's copies again and again, and gets the shard's part of a snapshot that the database lacks.
// What the place does not answer is asked again and again. Thread-safe. The destructor ends its thread.
class CopyFetcher {
 public:
  // A listener is told from the fetcher's thread.
  using Listener = std::function<void(lane::CopiesFound)>;

  // `store` has its identity; it and `room` outlive the fetcher. Throws std::runtime_error if the place cannot be one.
  CopyFetcher(const Job& job, std::uint32_t shard, ShardStore& store, DiskRoom& room);
  ~CopyFetcher();
  CopyFetcher(const CopyFetcher&) = delete;
  CopyFetcher& operator=(const CopyFetcher&) = delete;

  // Shard 0, before there is a lead: its ledger, if the database has none and the run has begun; or the run's name, if
  // the ledger is of no run. Waits for the place as long as `wanted` holds. Throws std::runtime_error if the run has
  // begun and no copy is of use, or the database refuses.
  void restore_ledger(const std::function<bool()>& wanted);

  // Told of what is found, now and later.
  void listen(std::uint32_t lane, Listener listener);
  // Begins to look.
  void look();
  // The shard serves: now and then is enough, for another lead may ask yet.
  void serves();

  // Gets the shard's part of the snapshot into the database; `missing` if that is in vain. Waits for the place, and for
  // room on the disk, as long as `wanted` holds.
  StoreStatus fetch(const SnapshotId& snapshot, const std::function<bool()>& wanted);
  // Nothing is waited for any more, and what is being fetched is given up.
  void close();
  // What it waits for; empty: nothing.
  [[nodiscard]] std::string trouble() const;

 private:
  void work();
  [[nodiscard]] lane::CopiesFound look_once();
  FetchedPart fetched_part(const SnapshotId& snapshot, const std::function<bool()>& wanted);
  [[nodiscard]] bool is_closed() const;
  StoreResult<std::optional<RestoredLedger>> try_to_restore(bool has_ledger, const std::function<bool()>& wanted);
  [[nodiscard]] StoreStatus why_not_there() const;
  bool pause(std::chrono::milliseconds span, const std::function<bool()>& wanted);
  void note_trouble(std::string text);

  const DurabilitySpec durability_;
  OwnCopies own_;
  ShardStore& store_;
  DiskRoom& room_;
  std::mutex place_mutex_;  // the place is one thread's at a time
  std::unique_ptr<CopyPlace> place_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint32_t, Listener> listeners_;
  std::optional<lane::CopiesFound> newest_;
  std::string trouble_;
  bool serves_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace ballast
