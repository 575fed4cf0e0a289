// What the lead's core costs by members: a heartbeat, a report, an item, who comes and goes.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/spread.h"
#include "common/wire/wire.h"
#include "protocol/covered_items.h"
#include "protocol/lead/lead.h"
#include "protocol/slot_set.h"

namespace ballast::bench {

namespace {

constexpr Micros kTick = 50'000;
constexpr Micros kEver = 1'000'000'000'000'000;
constexpr double kBudget = 0.2;  // seconds, of one measurement
constexpr Incarnation kIncarnation = 1;

struct Size {
  std::uint32_t workers = 10;
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;  // of each shard
  Slot slots = 8;
  bool items = false;

  [[nodiscard]] std::uint32_t all_lanes() const { return shards * lanes; }
};

LeadConfig config_of(const Size& size) {
  LeadConfig config;
  config.shards = size.shards;
  config.lanes = size.lanes;
  config.slots = size.slots;
  config.steps = 1'000'000'000;
  config.steps_per_epoch = config.steps;
  config.evaluate_every = config.steps;
  config.start_workers = size.workers;
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.factors = [](Step, std::uint64_t) { return StepFactors{}; };
  config.decisions.chunks = size.all_lanes();
  config.parameter_name = [](std::uint32_t) { return std::string("weight"); };
  // Nobody is late or silent here, however time goes.
  config.worker_silence = config.shard_silence = config.late = {kEver, kEver, kEver};
  config.patience = kEver;
  if (size.items) {
    config.items = ItemMode{0, 4, true};
  }
  return config;
}

// A lead, and what all others say to it.
class Members {
 public:
  explicit Members(const Size& size) : size_(size), lead_(config_of(size)) {
    tick();
    for_lanes([&](LaneId lane) { hear(lane, hello_of(lane)); });
    for_lanes([&](LaneId lane) { hear(lane, report_of(lane)); });
    for (SessionId session = 1; session <= size.workers; ++session) {
      join(session);
    }
    tick();
    if (lead_.status().phase != JobPhase::training || placement_ == 0) {
      throw std::runtime_error("the lead does not train: " + lead_.status().waits_for);
    }
  }

  [[nodiscard]] const Size& size() const { return size_; }
  [[nodiscard]] const Assign& order_of(SessionId session) { return orders_[session]; }

  void tick() { turn(lead::Tick{now_ += kTick}); }
  void join(SessionId session) {
    hear(session, WorkerHello{"worker " + std::to_string(session)});
    hear(session, heartbeat_of(session));
  }
  void leave(SessionId session) { hear(session, Goodbye{}); }
  void hear(SessionId session, const Message& message) { turn(lead::FromWorker{session, &message}); }
  void hear(LaneId lane, const Message& message) { turn(lead::FromLane{lane, kIncarnation, &message}); }
  // Several in a turn.
  void hear(const std::vector<std::pair<LaneId, Message>>& messages) {
    for (const auto& [lane, message] : messages) {
      lead_.hear(lead::FromLane{lane, kIncarnation, &message});
    }
    settle();
  }

  [[nodiscard]] Heartbeat heartbeat_of(SessionId session) {
    Heartbeat beat;
    beat.timeline = 1;
    beat.order = orders_[session].order;
    beat.ready = true;
    beat.fingerprint = "arithmetic of this processor";
    beat.data_digest = std::string(64, 'd');
    beat.placement = placement_;
    return beat;
  }

  // Where all lanes are.
  [[nodiscard]] Step open_step() const { return open_; }
  void open(Step step, const SlotSet& missing) {
    open_ = step;
    missing_ = missing.words();
  }
  void cover(ItemId item) { covered_.insert(item); }

  [[nodiscard]] LaneReport report_of(LaneId lane) {
    LaneReport report;
    report.lane = lane;
    report.incarnation = kIncarnation;
    report.sequence = ++sequence_;
    report.timeline = 1;
    report.serving = true;
    report.planned = planned_[lane];
    if (size_.items) {
      tell_items(report);
    } else {
      report.open_step = open_;
      report.rounds.missing = missing_;
    }
    if (lane == LaneId{0, 0}) {
      for (const auto& [session, order] : orders_) {
        report.slots_by_session.push_back({session, sequence_});
      }
    }
    return report;
  }

  // The same with what comes and goes by the wire.
  void hear_bytes(SessionId session, std::span<const std::byte> bytes) {
    const auto decoded = decode(bytes, 0, false);
    const lead::FromWorker event{session, &std::get<Message>(decoded)};
    lead_.hear(event);
    for (const auto& action : lead_.settle()) {
      encoder_.encode(std::get<lead::SendToWorker>(action).message);
    }
  }

  template <typename Call>
  void for_lanes(const Call& call) const {
    for (std::uint32_t lane = 0; lane < size_.all_lanes(); ++lane) {
      call(LaneId{lane / size_.lanes, lane % size_.lanes});
    }
  }

 private:
  [[nodiscard]] ShardHello hello_of(LaneId lane) const {
    return {lane,
            size_.shards,
            size_.lanes,
            kIncarnation,
            {100 + lane.shard, 1},
            "spec",
            "layout",
            "",
            "tcp://10.0.0.1:7000",
            0,
            0,
            {{}},
            {{kIncarnation, 0}}};
  }

  void tell_items(LaneReport& report) const {
    report.open_step = covered_.floor() / size_.slots;
    report.items.covered = covered_.ranges(4'096);
    report.items.reached = covered_.ceiling();
    for (std::uint32_t shard = 0; shard < size_.shards; ++shard) {
      report.items.marks.push_back({shard, kIncarnation, sequence_});
    }
  }

  void turn(const lead::Event& event) {
    lead_.hear(event);
    settle();
  }
  void settle() {
    bool is_written = false;
    for (const auto& action : lead_.settle()) {
      std::visit([&](const auto& body) { take(body, is_written); }, action);
    }
    if (is_written) {
      turn(lead::LedgerWritten{});
    }
  }
  void take(const lead::SendToWorker& action, bool& /*is_written*/) {
    if (const auto* order = std::get_if<Assign>(&action.message)) {
      orders_[action.session] = *order;
    } else if (const auto* welcome = std::get_if<WorkerWelcome>(&action.message)) {
      placement_ = welcome->placement;
    }
  }
  void take(const lead::SendToLane& action, bool& /*is_written*/) {
    if (const auto* plan = std::get_if<Plan>(&action.message)) {
      auto& planned = planned_[action.lane];
      planned = std::max(planned, plan->first + plan->factors.size());
    }
  }
  static void take(const lead::WriteLedger& /*action*/, bool& is_written) { is_written = true; }
  static void take(const lead::Stop& action, bool& /*is_written*/) {
    throw std::runtime_error("the lead has ended: " + action.failure);
  }

  Size size_;
  Lead lead_;
  Encoder encoder_;
  Micros now_ = 1'000'000;
  std::uint64_t sequence_ = 0;
  std::uint64_t placement_ = 0;
  Step open_ = 0;
  std::vector<std::uint64_t> missing_;
  CoveredItems covered_;
  std::map<SessionId, Assign> orders_;
  std::map<LaneId, Version> planned_;
};

// Microseconds of one of those that `call` does, the median over the repetitions. It returns how many it has done.
double microseconds(unsigned repetitions, const std::function<std::uint64_t()>& call) {
  std::vector<double> times;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    std::uint64_t done = 0;
    const auto begin = Clock::now();
    while (seconds_since(begin) < kBudget) {
      done += call();
    }
    times.push_back(seconds_since(begin) * 1e6 / static_cast<double>(done));
  }
  return spread_of(times).median;
}

// Heartbeats that bring nothing new, of one worker after the other.
double heartbeat_us(Members& members, unsigned repetitions) {
  const auto workers = members.size().workers;
  std::vector<Message> beats;
  for (SessionId session = 1; session <= workers; ++session) {
    beats.emplace_back(members.heartbeat_of(session));
  }
  return microseconds(repetitions, [&] {
    for (SessionId session = 1; session <= workers; ++session) {
      members.hear(session, beats[session - 1]);
    }
    return std::uint64_t{workers};
  });
}

double heartbeat_wire_us(Members& members, unsigned repetitions) {
  Encoder encoder;
  const auto bytes = encoder.encode(members.heartbeat_of(1));
  const std::vector<std::byte> beat(bytes.begin(), bytes.end());
  return microseconds(repetitions, [&] {
    members.hear_bytes(1, beat);
    return std::uint64_t{1};
  });
}

// A report of each lane, so many of them a turn.
std::uint64_t all_report(Members& members, std::size_t by_turn) {
  std::vector<std::pair<LaneId, Message>> turn;
  members.for_lanes([&](LaneId lane) {
    turn.emplace_back(lane, members.report_of(lane));
    if (turn.size() == by_turn) {
      members.hear(std::exchange(turn, {}));
    }
  });
  if (!turn.empty()) {
    members.hear(turn);
  }
  return members.size().all_lanes();
}

// In rounds two reports a step: half of the slots are there, then the next step is open.
double report_us(Members& members, std::size_t by_turn, unsigned repetitions) {
  const auto slots = members.size().slots;
  SlotSet half(slots);
  half.insert({0, slots / 2});
  return microseconds(repetitions, [&] {
    members.open(members.open_step() + 1, SlotSet::full(slots));
    const auto reported = all_report(members, by_turn);
    members.open(members.open_step(), half);
    return reported + all_report(members, by_turn);
  });
}

// A job in item mode, a tick of virtual time after the other, each in 40 parts: `rate` items a second, ten heartbeats a
// second of each worker, with what it has delivered, and 20 reports a second of each lane.
class ItemTraffic {
 public:
  ItemTraffic(Members& members, std::uint32_t rate) : members_(members), rate_(rate) {}

  std::uint64_t tick() {
    members_.tick();
    for (std::uint32_t part = 0; part < kParts; ++part) {
      beat(part);
      report(part);
    }
    return std::exchange(retired_, 0);
  }

 private:
  static constexpr std::uint32_t kParts = 40;  // of a tick

  // Each worker every second tick.
  void beat(std::uint32_t part) {
    const auto workers = members_.size().workers;
    const auto by_beat = std::max<std::uint32_t>(1, rate_ / (10 * workers));
    phase_ = part == 0 ? 1 - phase_ : phase_;
    for (SessionId session = 1 + phase_ * kParts + part; session <= workers; session += 2 * kParts) {
      auto beat = members_.heartbeat_of(session);
      for (const auto& grant : members_.order_of(session).items.grants) {
        if (beat.delivered.size() < by_beat) {
          beat.delivered.push_back(grant.clock);
          members_.cover(grant.item);
          ++retired_;
        }
      }
      members_.hear(session, beat);
    }
  }
  // Each lane once a tick.
  void report(std::uint32_t part) {
    std::uint32_t number = 0;
    members_.for_lanes([&](LaneId lane) {
      if (number++ % kParts == part) {
        members_.hear(lane, members_.report_of(lane));
      }
    });
  }

  Members& members_;
  std::uint32_t rate_;
  std::uint32_t phase_ = 0;
  std::uint64_t retired_ = 0;
};

// One worker's goodbye, and all orders that follow from it; it comes back between two of them.
double death_ms(Members& members, unsigned repetitions) {
  std::vector<double> times;
  SessionId session = 1;
  for (unsigned repetition = 0; repetition < 5 * repetitions; ++repetition) {
    const auto begin = Clock::now();
    members.leave(session);
    members.tick();
    times.push_back(seconds_since(begin) * 1e3);
    members.join(session);
    members.tick();
    session = session % members.size().workers + 1;
  }
  return spread_of(times).median;
}

// A tenth of the workers leave, and as many come, each second of 20 ticks.
double churn_us(Members& members, unsigned repetitions) {
  const auto workers = members.size().workers;
  const auto by_tick = std::max<std::uint32_t>(1, workers / 200);
  SessionId session = 1;
  return microseconds(repetitions, [&] {
    for (std::uint32_t gone = 0; gone < by_tick; ++gone) {
      members.leave(session);
      members.join(session);
      session = session % workers + 1;
    }
    members.tick();
    return std::uint64_t{2} * by_tick;
  });
}

Row row_of(const Size& size, unsigned repetitions) {
  Members members(size);
  const auto heartbeat = heartbeat_us(members, repetitions);
  const auto wire = heartbeat_wire_us(members, repetitions);
  Value item = std::string("-");
  if (size.items) {
    ItemTraffic traffic(members, 10'000);
    item = microseconds(repetitions, [&] { return traffic.tick(); });
  }
  const auto report = report_us(members, 1, repetitions);
  const double percent = (10.0 * size.workers * heartbeat + 20.0 * size.all_lanes() * report) / 1e4;
  return {{"mode", std::string(size.items ? "async" : "sync")},
          {"workers", std::to_string(size.workers)},
          {"lanes", std::to_string(size.all_lanes())},
          {"slots", std::to_string(size.slots)},
          {"heartbeat_us", heartbeat},
          {"heartbeat_wire_us", wire},
          {"report_us", report},
          {"report_32_us", report_us(members, 32, repetitions)},
          {"core_percent", percent},
          {"item_us", item},
          {"death_ms", death_ms(members, repetitions)},
          {"churn_us", churn_us(members, repetitions)}};
}

}  // namespace

Result lead(const Options& options) {
  Result result;
  result.how =
      "processor time of the lead's core, a turn for each message. heartbeat: of a worker, with nothing new; wire: "
      "with "
      "decoding it and encoding the answer. report: of a lane, with progress, alone in its turn and with 31 others. "
      "core_percent: of one core, for ten "
      "heartbeats a second of each worker and 20 reports a second of each lane. item: granted, delivered and covered, "
      "with all heartbeats and reports meanwhile, at 10,000 a second. death: of one worker, until all orders are out. "
      "churn: who leaves or comes, a tenth of all each second.";
  const std::vector<Size> sizes = {
      {10, 1, 1, 8, false},         {10, 64, 16, 8, false},        {100, 64, 1, 8, false},
      {100, 64, 1, 4'096, false},   {1'000, 1, 1, 4'096, false},   {1'000, 64, 1, 8, false},
      {1'000, 64, 1, 4'096, false}, {1'000, 64, 16, 4'096, false}, {10, 1, 1, 8, true},
      {100, 64, 1, 8, true},        {1'000, 1, 1, 4'096, true},    {1'000, 64, 1, 8, true},
      {1'000, 64, 1, 4'096, true},  {1'000, 64, 16, 4'096, true},
  };
  for (const auto& size : sizes) {
    result.rows.push_back(row_of(size, options.repetitions));
  }
  return result;
}

}  // namespace ballast::bench
