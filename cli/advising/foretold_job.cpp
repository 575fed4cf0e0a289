#include "cli/advising/foretold_job.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "common/arena/placement.h"
#include "insight/medians.h"
#include "insight/replay_parts.h"
#include "protocol/tree.h"

namespace ballast {
namespace {

constexpr std::size_t kSteps = 12;
constexpr std::size_t kGoodSteps = 4;  // fewer only where a replay could not end otherwise
constexpr double kUsualEvents = 6e6;   // of a replay, for more than kGoodSteps: two seconds
constexpr double kMostEvents = 0.8 * static_cast<double>(insight::kMostEvents);  // some are not foreseen
constexpr std::size_t kMostChunks = 256;
constexpr double kDecides =
    200;  // microseconds: what the lead's loop and the words to and from it take where links are quick

const MachineProbe& machine_of(const std::vector<MachineProbe>& probes, std::size_t number) {
  return probes[number % probes.size()];
}

// Of chunks of one lane that follow one another.
struct ChunkGroup {
  double bytes = 0;
  double chunks = 0;
  std::uint32_t lane = 0;  // of all
  double ready = 0;        // the sum over its chunks, of their places among all, 0 to 1
};

std::vector<ChunkGroup> groups_of(const Job& job, const Candidate& candidate) {
  const Placement placement(job.arena, candidate.shards, candidate.lanes);
  const auto chunks = job.arena.chunks.size();
  const auto most = std::max(kMostChunks, std::size_t{candidate.shards} * candidate.lanes);
  const auto together = (chunks + most - 1) / most;
  std::vector<ChunkGroup> groups;
  std::map<std::uint32_t, std::size_t> open;  // by lane, its group that has room
  for (const auto& chunk : job.arena.chunks) {
    const auto lane = placement.lane_of_all(chunk.id);
    auto found = open.find(lane);
    if (found == open.end() || groups[found->second].chunks >= static_cast<double>(together)) {
      open[lane] = groups.size();
      groups.push_back({.lane = lane});
      found = open.find(lane);
    }
    auto& group = groups[found->second];
    group.bytes += static_cast<double>(chunk.bytes());
    group.ready += chunks > 1 ? static_cast<double>(chunk.id) / static_cast<double>(chunks - 1) : 0;
    ++group.chunks;
  }
  return groups;
}

// What all workers of a machine have in common.
struct WorkerKind {
  double slot = 0;
  double fetch = 0;
  std::vector<double> ready;  // by group
  double up = 0;              // 0: nothing is known
  double down = 0;
  double delay = 0;
};

// At that place of a list that lies evenly from 0 to 1.
double value_at(const std::vector<double>& values, double place) {
  const auto at = place * static_cast<double>(values.size() - 1);
  const auto before = std::min(static_cast<std::size_t>(at), values.size() - 1);
  const auto after = std::min(before + 1, values.size() - 1);
  return values[before] + (at - static_cast<double>(before)) * (values[after] - values[before]);
}

class JobForeteller {
 public:
  JobForeteller(const Job& job, const Fleet& fleet, const Candidate& candidate, bool waits)
      : job_(job), fleet_(fleet), candidate_(candidate), waits_(waits), groups_(groups_of(job, candidate)) {
    found_.is_in_items = is_item_mode(job.spec.training.mode);
    nodes_ = nodes();
    for (const auto& probe : fleet.workers) {
      kinds_.push_back(kind_of(probe));
    }
    const auto& cluster = job.spec.cluster;
    auto& times = found_.times;
    times.rules = {job.spec.training.slots, static_cast<std::uint32_t>(groups_.size()),
                   job.arena.elements * sizeof(float), cluster.divide_by_speed, cluster.redistribute};
  }

  ForetoldJob all() {
    add_servers();
    auto& times = found_.times;
    times.steps = found_.is_in_items ? kSteps : steps();
    if (waits_) {
      times.decisions.assign(times.steps, kDecides);
    }
    for (std::size_t worker = 0; times.steps > 0 && worker < candidate_.workers; ++worker) {
      add_worker(worker);
    }
    times.step = everything_;
    return std::move(found_);
  }

 private:
  // ---- servers

  [[nodiscard]] std::size_t shards_on_a_machine() const {
    const auto machines = fleet_.is_one_machine ? 1 : std::max<std::size_t>(1, fleet_.server_machines);
    return (candidate_.shards + machines - 1) / machines;
  }

  void add_servers() {
    auto& times = found_.times;
    const auto rates = server_rates(fleet_);
    const auto sharing = static_cast<double>(shards_on_a_machine());
    const bool share_one = shards_on_a_machine() == candidate_.shards;
    if (share_one) {
      times.servers = {rates.in, rates.out, 0, 0};
    }
    // What all contributions and all weights take there, one after the other.
    const auto link = (share_one ? 1 : sharing) * candidate_.workers * (nodes_ * taking(rates.in) + taking(rates.out));
    everything_ += link;
    server_link_ = share_one ? link : link / candidate_.shards;
    for (std::uint32_t shard = 0; shard < candidate_.shards; ++shard) {
      times.shards.push_back(share_one ? insight::ServerLink{}
                                       : insight::ServerLink{rates.in / sharing, rates.out / sharing, 0, 0});
      for (std::uint32_t lane = 0; lane < candidate_.lanes; ++lane) {
        times.lanes.push_back(
            {.name = "shard " + std::to_string(shard) + " lane " + std::to_string(lane), .shard = shard});
      }
    }
    lane_busy_.resize(times.lanes.size());
    for (const auto& group : groups_) {
      add_group(group);
    }
    for (std::size_t lane = 0; lane < times.lanes.size(); ++lane) {
      const auto& probe = machine_of(fleet_.servers, times.lanes[lane].shard);
      times.lanes[lane].message = message_of(probe) * crowding(probe);
    }
  }

  // Sums that a worker sends of a chunk in a step of rounds, while all are equally fast.
  [[nodiscard]] double nodes() const {
    const auto slots = job_.spec.training.slots;
    std::size_t all = 0;
    for (std::uint64_t worker = 0; worker < candidate_.workers; ++worker) {
      const SlotRange range{static_cast<Slot>(worker * slots / candidate_.workers),
                            static_cast<Slot>((worker + 1) * slots / candidate_.workers)};
      all += range.empty() ? 0 : tree::cover(range, slots).size();
    }
    return std::max(1.0, static_cast<double>(all) / candidate_.workers);
  }

  // Of a chunk in a step; and for each of them, replies with weights and updates.
  [[nodiscard]] double contributions() const {
    return found_.is_in_items ? job_.spec.training.slots : nodes_ * candidate_.workers;
  }
  [[nodiscard]] double replies() const { return found_.is_in_items ? 1 : 1 / nodes_; }

  [[nodiscard]] double message_of(const MachineProbe& probe) const {
    return probe.lane->message + probe.lane->reply * replies();
  }

  // Threads of lanes of a machine that have chunks, for each of its processors.
  [[nodiscard]] double lanes_a_processor(const MachineProbe& probe) const {
    const auto busy = std::min<double>(candidate_.lanes, static_cast<double>(groups_.size()) / candidate_.shards);
    return busy * static_cast<double>(shards_on_a_machine()) / probe.processors;
  }
  [[nodiscard]] double crowding(const MachineProbe& probe) const { return std::max(1.0, lanes_a_processor(probe)); }

  // A lane's thread and the one that brings and takes its messages work side by side, where there are processors for
  // both: the slower of them says how long a contribution takes. Else all of it shares what there is.
  void add_group(const ChunkGroup& group) {
    auto& times = found_.times;
    const auto& probe = machine_of(fleet_.servers, times.lanes[group.lane].shard);
    const auto& lane = *probe.lane;
    const auto own = group.chunks * message_of(probe) + (found_.is_in_items ? 0 : group.bytes * lane.sum);
    const auto wire = (1 + replies()) * (group.bytes * lane.wire + group.chunks * lane.wire_message);
    const auto takes = std::max({own, wire, (own + wire) * lanes_a_processor(probe)});
    times.bytes.push_back(group.bytes);
    times.lane_of.push_back(group.lane);
    times.sum.push_back(std::max(0.0, takes - message_of(probe) * crowding(probe)));
    times.apply.push_back(group.bytes * lane.apply * crowding(probe));
    const auto updates = found_.is_in_items ? contributions() : 1;
    const auto busy = contributions() * takes + updates * times.apply.back();
    everything_ += busy;
    lane_busy_[group.lane] += busy;
    // Workers carry what servers do.
    found_.processing += contributions() * (own + 2 * wire) + updates * group.bytes * lane.apply;
  }

  // ---- how much of it is replayed

  // Of a step, about: all that has to be done in it, by the busiest of each kind, one after the other.
  [[nodiscard]] double about_a_step() const {
    const auto slots = static_cast<double>(job_.spec.training.slots) / candidate_.workers + 1;
    double worker = 0;
    for (const auto& kind : kinds_) {
      worker = std::max(worker, slots * std::max(kind.slot, kind.fetch) + nodes_ * taking(kind.up) + taking(kind.down) +
                                    2 * (nodes_ + 1) * kind.delay);
    }
    return worker + server_link_ + std::ranges::max(lane_busy_);
  }

  // Of a step's replay: a contribution is ready, left, comes, is there and is summed; weights come; a slot begins and
  // ends, and word of both goes to the lead; and some word of each worker and lane goes there from time to time.
  [[nodiscard]] double events_a_step() const {
    constexpr double kOfContribution = 5;
    constexpr double kOfSlot = 8;
    const double workers = candidate_.workers;
    const auto groups = static_cast<double>(groups_.size());
    const auto lanes = found_.times.lanes.size();
    const auto words = 2 * (workers / insight::kBeatEvery + static_cast<double>(lanes) / insight::report_every(lanes));
    return groups * (workers * (kOfContribution * nodes_ + 1) + 1) + kOfSlot * job_.spec.training.slots +
           words * about_a_step();
  }

  // As many as the lead learns from before them (foretold_step). 0: not even one of each can be replayed.
  [[nodiscard]] std::size_t steps() const {
    const auto both = 2 * events_a_step();
    const auto usual = std::clamp(kUsualEvents / both, double{kGoodSteps}, double{kSteps});
    return static_cast<std::size_t>(std::min(usual, kMostEvents / both));
  }

  // ---- workers

  // Drawn from those that were measured: what one is late by, all wait for.
  [[nodiscard]] std::vector<std::vector<double>> drawn_slots(const SlotProbe& slot, std::size_t number) const {
    std::minstd_rand random(static_cast<std::uint32_t>(number + 1));
    const auto draw = [&](const std::vector<double>& values) {
      return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
    };
    const auto slots = job_.spec.training.slots / candidate_.workers + 1;
    std::vector<std::vector<double>> steps(found_.times.steps);
    for (auto& step : steps) {
      for (std::size_t i = 0; i < slots; ++i) {
        step.push_back(draw(i == 0 || slot.joined.empty() ? slot.alone : slot.joined));
      }
    }
    return steps;
  }

  [[nodiscard]] WorkerKind kind_of(const MachineProbe& probe) const {
    const auto& slot = *probe.slot;
    WorkerKind kind;
    kind.slot = insight::median(slot.joined.empty() ? slot.alone : slot.joined);
    kind.fetch = slot.fetch.value_or(0) / slot.readers;
    for (const auto& group : groups_) {
      kind.ready.push_back(value_at(slot.ready, group.ready / group.chunks));
    }
    if (!fleet_.is_one_machine) {
      take_links(probe.links, kind);
    }
    return kind;
  }

  void add_worker(std::size_t number) {
    const auto& slot = *machine_of(fleet_.workers, number).slot;
    const auto& kind = kinds_[number % kinds_.size()];
    insight::WorkerTimes own;
    own.name = "worker " + std::to_string(number);
    own.process = number;
    own.slots = drawn_slots(slot, number);
    own.slot = kind.slot;
    own.fetch = kind.fetch;
    own.begins = slot.begins;
    own.between = slot.between;
    own.ready = kind.ready;
    own.up = kind.up;
    own.down = kind.down;
    own.delay = kind.delay;
    const auto share = static_cast<double>(job_.spec.training.slots) / candidate_.workers;
    found_.processing += share * own.slot * slot.processors;
    // Weights come once, and each sum is followed by word of it: there and back.
    everything_ +=
        nodes_ * (taking(own.up) + taking(own.down)) + 2 * (nodes_ + 1) * own.delay + own.begins + own.fetch * share;
    found_.times.workers.push_back(std::move(own));
  }

  // Of several servers that were asked, the slowest: all weights are wanted before a step begins.
  void take_links(const std::vector<LinkProbe>& links, WorkerKind& kind) const {
    const bool is_one = candidate_.shards * candidate_.lanes == 1;
    for (const auto& link : links) {
      const auto up = is_one ? link.up_of_one : link.up;
      const auto down = is_one ? link.down_of_one : link.down;
      kind.up = kind.up > 0 ? std::min(kind.up, up) : up;
      kind.down = kind.down > 0 ? std::min(kind.down, down) : down;
      kind.delay = std::max(kind.delay, link.round_trip / 2);
    }
  }

  // The whole model.
  [[nodiscard]] double taking(double rate) const {
    return insight::span_of(static_cast<double>(job_.arena.elements * sizeof(float)), rate);
  }

  const Job& job_;
  const Fleet& fleet_;
  const Candidate candidate_;
  const bool waits_;
  const std::vector<ChunkGroup> groups_;
  std::vector<WorkerKind> kinds_;  // by probe
  ForetoldJob found_;
  double nodes_ = 1;
  double server_link_ = 0;  // the busiest
  std::vector<double> lane_busy_;
  double everything_ = 0;  // one after the other: no step takes longer
};

}  // namespace

ServerRates server_rates(const Fleet& fleet) {
  if (fleet.is_one_machine) {
    return {};
  }
  if (fleet.server_link > 0) {
    return {fleet.server_link, fleet.server_link};
  }
  ServerRates rates;
  for (const auto& worker : fleet.workers) {
    for (const auto& link : worker.links) {
      rates.in = std::max(rates.in, link.up);
      rates.out = std::max(rates.out, link.down);
    }
  }
  for (const auto& server : fleet.servers) {
    for (const auto& link : server.links) {
      rates.in = std::max(rates.in, link.down);
      rates.out = std::max(rates.out, link.up);
    }
  }
  return rates;
}

ForetoldJob foretold_job(const Job& job, const Fleet& fleet, const Candidate& candidate, bool waits) {
  return JobForeteller(job, fleet, candidate, waits).all();
}

}  // namespace ballast
