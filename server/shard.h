// A server process: its database, one thread for each lane, and on shard 0 one for the lead.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "common/job/job.h"
#include "common/metrics/each_second.h"
#include "common/metrics/series.h"
#include "common/net/doorkeeper.h"
#include "server/copy_fetcher.h"
#include "server/departure.h"
#include "server/disk_room.h"
#include "server/lane_loop.h"
#include "server/lead_loop.h"
#include "server/memory_watch.h"
#include "server/options.h"
#include "server/page/page.h"
#include "server/server_keys.h"
#include "server/session_limit.h"
#include "server/shard_journal.h"
#include "server/shard_storage.h"
#include "server/worker_tallies.h"
#include "storage/copies/snapshot_copier.h"
#include "storage/store/shard_store.h"

namespace ballast {

// Start: the lead answers as soon as the database is open; a shard's lanes are there when its initial weights are. What
// cannot be opened or written because the disk is full is tried again until there is room.
// Shutdown: a loop that ends with a failure interrupts the others; one that ends well waits for them, for each is told
// by the lead. A server that is told to end goes when its lanes say that it may, the lead's loop after them. The
// destructor joins all threads.
//
// More than 15 fields: it owns each part of the process, in the order in which they may go, and does little else.
class Shard {
 public:
  // Serves metrics and the page. Throws std::runtime_error with the reason and the remedy.
  Shard(const Job& job, const ServerOptions& options);
  ~Shard();

  // Opens and claims the database, binds every address, and returns when all loops have ended: the first reason of a
  // failure, empty if the job finished. Throws as the constructor does. Once.
  std::string run();
  // From any thread: ends run() soon.
  void interrupt(const std::string& reason);
  // After run(): another life of this server would end in the same way.
  [[nodiscard]] bool is_hopeless() const;
  // After run(): it ended because it heard no lead for too long, and its database says that the job has finished.
  [[nodiscard]] bool has_outlived_its_job();
  // From any thread, at SIGTERM: ends run() when the job holds at a snapshot, so that nothing is lost by it, or with
  // what is lost when cluster.hold_patience is over. Where nothing can be lost it ends at once, for `reason`.
  void depart(const std::string& reason);
  // After run().
  [[nodiscard]] Departure departure() const;
  // After run(): what the job goes on from when this server is started again, for a person.
  [[nodiscard]] std::string what_is_left() const;

 private:
  // What the database says when it is opened, and what this life has added to it before the lanes are there.
  struct Found {
    DatabaseLife life;
    Timeline last_timeline = 0;
    bool has_initial_snapshot = false;
    bool has_finished = false;
    std::string initial_weights;  // digest of the file that they were read from, by this life
  };

  void open_lanes();
  void check_addresses() const;
  void count_descriptors();
  void open_database();
  void bring_initial_weights();
  void open_journal();
  void require(const DiskRoom::Attempt& attempt);
  StoreStatus write_initial_weights();
  void make_copier();
  void make_fetcher();
  StoreStatus fetch(SnapshotId snapshot, const std::function<bool()>& wanted);
  void clean_copies();
  void remove_journal();
  [[nodiscard]] bool is_ending() const;
  void make_lead();
  void make_lanes();
  bool begin(std::vector<std::jthread>& loops);
  template <typename Loop>
  std::jthread start(Loop& loop, const std::string& name);
  void ended(const std::string& failure);
  void over(const LaneLoop& lane);
  void over(const LeadLoop& /*lead*/) {}
  void let_lead_go();
  void left(const lane::Leave& leave);
  [[nodiscard]] std::string failure() const;
  void tell_gates(bool shut);
  [[nodiscard]] SocketKeeping keep_socket();
  [[nodiscard]] std::string trouble() const;
  void read_metrics() const;
  // The snapshots that this shard could go on from.
  [[nodiscard]] std::vector<SnapshotId> held();
  [[nodiscard]] LaneConfig lane_config(std::uint32_t lane);
  [[nodiscard]] Lateness* seen_by_page(std::uint32_t lane) const;

  const Job& job_;
  ServerOptions options_;
  Incarnation incarnation_;
  Found found_;
  std::unique_ptr<ShardStore> store_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Page> page_;  // null where none is served; outlives the loops, which tell it
  ProcessSeries process_series_;
  DatabaseSeries database_series_;
  std::shared_ptr<WorkerTallies> tallies_;
  DiskRoom room_;
  SessionLimit session_limit_;
  std::unique_ptr<SnapshotCopier> copier_;  // null without durability.copy_to
  MemoryWatch memory_;
  std::vector<std::uint64_t> memory_of_lanes_;  // of contributions
  zmq::context_t context_ = make_context();
  ServerKeys keys_;
  std::vector<std::unique_ptr<LaneLoop>> lanes_;
  std::unique_ptr<LeadLoop> lead_;
  // After the loops, which they call back: destroyed before them.
  std::unique_ptr<ShardJournal> journal_;  // null if updates are not journaled
  std::unique_ptr<CopyFetcher> fetcher_;   // null if nothing comes from copies
  std::unique_ptr<ShardStorage> storage_;
  std::unique_ptr<Doorkeeper> doorkeeper_;
  mutable std::mutex mutex_;
  bool is_open_ = false;  // the lanes are there, and stay
  std::size_t lanes_over_ = 0;
  std::string failure_;
  DepartureRecord departure_;
  std::unique_ptr<EachSecond> readings_;  // null: nobody reads; reads the database, so it goes before that
};

}  // namespace ballast
