// What the shells share, and what they ask of whoever runs them.
#pragma once

#include <optional>
#include <string>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "tests/simulation/copies.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/facts.h"
#include "tests/simulation/judge/judge.h"
#include "tests/simulation/life.h"
#include "tests/simulation/pending.h"
#include "tests/simulation/process.h"

namespace ballast::simulation {

// What outlives the processes: all that is durable, and who judges.
struct World {
  explicit World(const LifeSpec& spec);

  [[nodiscard]] Disk& disk(std::uint32_t shard, std::uint64_t database) { return disks.of(shard, database); }

  const LifeSpec& life;
  Disks disks;
  CopyPlace copies;
  StoredLedger ledger;
  NonFinite non_finite;  // by the newest start of the job
  Step snapshot_every;   // the same
  Judge judge;
  LifeFacts facts;
};

// Runs the shells. The simulation's cluster has a clock and a network of chance; another could try every order.
class Host {
 public:
  explicit Host(const LifeSpec& life) : world_(life) {}
  // Of a world of its own, as this one is now.
  explicit Host(const World& world) : world_(world) {}
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] const LifeSpec& life() const { return world_.life; }
  [[nodiscard]] const Disks& disks() const { return world_.disks; }
  [[nodiscard]] Judge& judge() { return world_.judge; }
  [[nodiscard]] LifeFacts& facts() { return world_.facts; }

  // ---- time and network
  [[nodiscard]] virtual Micros now() const = 0;
  // Is carried out by the process's shell, if it still lives then.
  virtual void later(ProcessId whose, Wait wait, Pending what) = 0;
  virtual void send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload) = 0;
  void send(const Process& from, ProcessId to, Message message) { send(from, to, std::move(message), std::nullopt); }

  // ---- who is who
  // The newest life's.
  [[nodiscard]] virtual ProcessId lead_id() const = 0;
  [[nodiscard]] virtual bool is_lead(ProcessId process) const = 0;
  [[nodiscard]] virtual bool is_alive(ProcessId process) const = 0;
  // Null if the process is no lane.
  [[nodiscard]] virtual const LaneLife* lane_life(ProcessId process) const = 0;
  // The process that is this life of the lane, dead or alive; kNobody if there was none.
  [[nodiscard]] virtual ProcessId lane_id(std::uint32_t lane, Incarnation incarnation) const = 0;
  [[nodiscard]] static std::string address(ProcessId process) { return std::to_string(process); }

  // ---- what goes wrong
  [[nodiscard]] virtual bool write_fails() = 0;
  [[nodiscard]] virtual bool copy_fails(std::uint32_t shard) = 0;
  // Whether a worker lets the weights that it is sent lie.
  [[nodiscard]] virtual bool draws_unread() = 0;
  // Whether the run's name is another job's in the place for copies: from now on, or since.
  [[nodiscard]] virtual bool takes_name(RunId run) = 0;

  // ---- connections between workers and lanes
  // The lane ends it.
  virtual void drop_connection(ProcessId lane, ProcessId worker, ConnectionId connection) = 0;
  // Bytes of contributions that may still come to the lane.
  [[nodiscard]] virtual std::uint64_t under_way(ProcessId lane) const = 0;
  [[nodiscard]] virtual ConnectionId newest_connection(ProcessId worker, ProcessId lane) = 0;
  // A lane or the lead has carried out an action: it may crash before the next one.
  virtual void acted(ProcessId process) = 0;
  // A lane has written a chunk of a snapshot, and may crash.
  virtual void wrote_chunk(const LaneLife& lane) = 0;
  // Whether work may have been applied that the lead did not know to be under way: a session was given up or left, a
  // lead has crashed, the job or a shard's journal went back.
  [[nodiscard]] virtual bool was_disturbed() const = 0;

  // ---- what others do about it
  // The lead does not let a server in with the initial weights that it has read.
  virtual void refused_weights(ProcessId lane) = 0;
  // The server ends, and is started again if it is the shard's.
  virtual void end_server(const LaneLife& life) = 0;
  // A lane of a server that was told to end lets it go; `whole`: whatever its other lanes wait for. `lost`: without a
  // snapshot for it.
  virtual void departs(const LaneLife& life, bool whole, bool lost) = 0;
  // The lead does not take a process for its shard's.
  virtual void turned_away(ProcessId lane, const std::string& why) = 0;
  // What the world's ledger says is durable. `goes_back`: to an older snapshot.
  virtual void ledger_written(bool goes_back) = 0;

  // ---- the trace
  [[nodiscard]] virtual bool traces() const = 0;
  virtual void say(const std::string& line) const = 0;

 protected:
  World world_;
};

}  // namespace ballast::simulation
