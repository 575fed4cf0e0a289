// What the lead's core costs by members: a heartbeat, a report, an item, who comes and goes.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "common/wire/wire.h"
#include "protocol/covered_items.h"
#include "protocol/lead/lead.h"
#include "protocol/slot_set.h"

namespace ballast::bench {

namespace {

constexpr Micros kTick = 50'000;
constexpr Micros kEver = 1'000'000'000'000'000;
constexpr double kBudget = 0.2;        // seconds, of one measurement
constexpr std::size_t kBatch = 1'000;  // heartbeats between two looks at the clock
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

// What a look at the clock costs, which is more than a heartbeat does.
double seconds_of_a_look() {
  constexpr int kLooks = 10'000;
  const auto begin = own_cpu_seconds();
  for (int i = 1; i < kLooks; ++i) {
    own_cpu_seconds();
  }
  return (own_cpu_seconds() - begin) / kLooks;
}

// A message to the lead, and whose it is.
struct Said {
  std::variant<SessionId, LaneId> by;
  Message message;
};
using LeadTurn = std::vector<Said>;
using Events = std::vector<lead::Event>;

Events events_of(const LeadTurn& turn) {
  Events events;
  for (const auto& said : turn) {
    if (const auto* session = std::get_if<SessionId>(&said.by)) {
      events.emplace_back(lead::FromWorker{*session, &said.message});
    } else {
      events.emplace_back(lead::FromLane{std::get<LaneId>(said.by), kIncarnation, &said.message});
    }
  }
  return events;
}

std::vector<LeadTurn> a_turn_each(LeadTurn all) {
  std::vector<LeadTurn> turns;
  for (auto& said : all) {
    turns.emplace_back().push_back(std::move(said));
  }
  return turns;
}

// A lead, and what all others say to it. The processor time of the core is told apart from that of making the messages.
class Members {
 public:
  explicit Members(const Size& size) : size_(size), lead_(config_of(size)) {
    tick();
    for_lanes([&](LaneId lane) { hear(lane, hello_of(lane)); });
    for_lanes([&](LaneId lane) { hear(lane, report_of(lane)); });
    for (std::uint32_t worker = 0; worker < size.workers; ++worker) {
      join();
    }
    tick();
    check();
  }

  [[nodiscard]] const Size& size() const { return size_; }
  // That live, those that joined first before the others.
  [[nodiscard]] const std::deque<SessionId>& sessions() const { return sessions_; }
  // Seconds that the core has taken so far.
  [[nodiscard]] double spent() const { return spent_; }

  // All train, and the lead knows where the lanes are.
  void check() const {
    const auto status = lead_.status();
    if (status.phase != JobPhase::training || placement_ == 0) {
      throw std::runtime_error("the lead does not train: " + status.waits_for);
    }
    if (status.step != open_step()) {
      throw std::runtime_error("the lead has not followed the lanes' reports");
    }
    for (const auto session : sessions_) {
      check(session);
    }
  }

  void tick() { take_turns({{lead::Tick{now_ += kTick}}}); }
  // A new session, as each worker draws one when it begins.
  void join() {
    const auto session = ++newest_;
    sessions_.push_back(session);
    hear(session, WorkerHello{"worker " + std::to_string(session)});
    hear(session, heartbeat_of(session));
  }
  // That which joined first.
  void leave() {
    const auto session = sessions_.front();
    sessions_.pop_front();
    orders_.erase(session);
    hear(session, Goodbye{});
  }
  // In a turn of its own.
  void hear(std::variant<SessionId, LaneId> by, Message message) {
    take_turns({events_of({{by, std::move(message)}})});
  }
  // One turn after the other, without anything between them.
  void hear(const std::vector<LeadTurn>& turns) {
    std::vector<Events> events;
    for (const auto& turn : turns) {
      events.push_back(events_of(turn));
    }
    take_turns(events);
  }
  // A heartbeat by which at most so many of the session's grants are done.
  [[nodiscard]] Heartbeat delivery_of(SessionId session, std::size_t at_most) {
    auto beat = heartbeat_of(session);
    for (const auto& grant : orders_[session].items.grants) {
      if (beat.delivered.size() < at_most) {
        beat.delivered.push_back(grant.clock);
        covered_.insert(grant.item);
      }
    }
    return beat;
  }

  [[nodiscard]] Heartbeat heartbeat_of(SessionId session) {
    Heartbeat beat;
    beat.timeline = timeline_;
    beat.order = orders_[session].order;
    beat.ready = true;
    beat.fingerprint = "arithmetic of this processor";
    beat.data_digest = std::string(64, 'd');
    beat.placement = placement_;
    return beat;
  }

  // Where all lanes are.
  [[nodiscard]] Step open_step() const { return size_.items ? covered_.floor() / size_.slots : open_; }
  void open(Step step, const SlotSet& missing) {
    open_ = step;
    missing_ = missing.words();
  }

  [[nodiscard]] LaneReport report_of(LaneId lane) {
    LaneReport report;
    report.lane = lane;
    report.incarnation = kIncarnation;
    report.sequence = ++sequence_;
    report.timeline = timeline_;
    report.serving = true;
    report.open_step = open_step();
    report.planned = planned_[lane];
    if (size_.items) {
      tell_items(report);
    } else {
      report.rounds.missing = missing_;
    }
    if (lane == LaneId{0, 0}) {
      for (const auto& [session, order] : orders_) {
        report.slots_by_session.push_back({session, sequence_});
      }
    }
    return report;
  }

  // As it comes by the wire, and with what goes by it.
  void hear_bytes(SessionId session, std::span<const std::byte> bytes) {
    const auto decoded = decode(bytes, 0, false);
    lead_.hear(lead::FromWorker{session, &std::get<Message>(decoded)});
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
    report.items.covered = covered_.ranges(4'096);
    report.items.reached = covered_.ceiling();
    for (std::uint32_t shard = 0; shard < size_.shards; ++shard) {
      report.items.marks.push_back({shard, kIncarnation, sequence_});
    }
  }

  // All that is said to the core, but for hear_bytes().
  void take_turns(const std::vector<Events>& turns) {
    std::vector<lead::Actions> actions;
    actions.reserve(turns.size());
    const auto begin = own_cpu_seconds();
    for (const auto& events : turns) {
      for (const auto& event : events) {
        lead_.hear(event);
      }
      actions.push_back(lead_.settle());
    }
    spent_ += own_cpu_seconds() - begin - look_;
    std::ranges::for_each(actions, [&](const auto& of_a_turn) { carry_out(of_a_turn); });
  }
  void carry_out(const lead::Actions& actions) {
    bool is_written = false;
    for (const auto& action : actions) {
      std::visit([&](const auto& body) { take(body, is_written); }, action);
    }
    if (is_written) {
      take_turns({{lead::LedgerWritten{}}});
    }
  }
  void take(const lead::SendToWorker& action, bool& /*is_written*/) {
    if (const auto* order = std::get_if<Assign>(&action.message)) {
      orders_[action.session] = *order;
    } else if (const auto* welcome = std::get_if<WorkerWelcome>(&action.message)) {
      placement_ = welcome->placement;
      timeline_ = welcome->timeline;
    } else {
      throw std::runtime_error("the lead refuses a worker, or has ended");
    }
  }
  void take(const lead::SendToLane& action, bool& /*is_written*/) {
    if (const auto* plan = std::get_if<Plan>(&action.message)) {
      auto& planned = planned_[action.lane];
      planned = std::max(planned, plan->first + plan->factors.size());
    } else if (const auto* confirm = std::get_if<Confirm>(&action.message)) {
      timeline_ = confirm->timeline;
    }
  }
  void check(SessionId session) const {
    const auto order = orders_.find(session);
    if (order == orders_.end() || order->second.timeline != timeline_) {
      throw std::runtime_error("session " + std::to_string(session) + " was given no work");
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
  double look_ = seconds_of_a_look();
  double spent_ = 0;
  std::uint64_t sequence_ = 0;
  Timeline timeline_ = 0;  // as the lead told lanes and workers last
  std::uint64_t placement_ = 0;
  std::deque<SessionId> sessions_;
  SessionId newest_ = 0;
  Step open_ = 0;
  std::vector<std::uint64_t> missing_;
  CoveredItems covered_;
  std::map<SessionId, Assign> orders_;
  std::map<LaneId, Version> planned_;
};

struct Cost {
  std::uint64_t done = 0;
  double seconds = 0;
};

// What the core takes while `call` does some things, and says how many.
Cost cost_of(const Members& members, const std::function<std::uint64_t()>& call) {
  const auto before = members.spent();
  const auto done = call();
  return {done, members.spent() - before};
}

void add(Cost& all, const Cost& cost) {
  all.done += cost.done;
  all.seconds += cost.seconds;
}

// Of one thing, the median over the repetitions.
double microseconds(unsigned repetitions, const std::function<Cost()>& call) {
  std::vector<double> times;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    Cost all;
    for (const auto begin = Clock::now(); seconds_since(begin) < kBudget;) {
      add(all, call());
    }
    times.push_back(all.seconds * 1e6 / static_cast<double>(all.done));
  }
  return spread_of(times).median;
}

// Heartbeats that bring nothing new, of one worker after the other.
double heartbeat_us(Members& members, unsigned repetitions) {
  const auto& sessions = members.sessions();
  LeadTurn beats;
  while (beats.size() < kBatch) {
    const auto session = sessions[beats.size() % sessions.size()];
    beats.push_back({session, members.heartbeat_of(session)});
  }
  const auto turns = a_turn_each(std::move(beats));
  return microseconds(repetitions, [&] {
    return cost_of(members, [&] {
      members.hear(turns);
      return kBatch;
    });
  });
}

double heartbeat_wire_us(Members& members, unsigned repetitions) {
  const auto& sessions = members.sessions();
  Encoder encoder;
  std::vector<std::vector<std::byte>> beats;
  for (const auto session : sessions) {
    const auto bytes = encoder.encode(members.heartbeat_of(session));
    beats.emplace_back(bytes.begin(), bytes.end());
  }
  return microseconds(repetitions, [&] {
    const auto begin = own_cpu_seconds();
    for (std::size_t i = 0; i < kBatch; ++i) {
      members.hear_bytes(sessions[i % sessions.size()], beats[i % sessions.size()]);
    }
    return Cost{kBatch, own_cpu_seconds() - begin};
  });
}

// A report of each lane, so many of them a turn.
Cost all_report(Members& members, std::size_t by_turn) {
  std::vector<LeadTurn> turns;
  members.for_lanes([&](LaneId lane) {
    if (turns.empty() || turns.back().size() == by_turn) {
      turns.emplace_back();
    }
    turns.back().push_back({lane, members.report_of(lane)});
  });
  return cost_of(members, [&] {
    members.hear(turns);
    return members.size().all_lanes();
  });
}

// In rounds each lane reports twice a step: when all slots are missing, then when half of them are.
double round_report_us(Members& members, std::size_t by_turn, unsigned repetitions) {
  const auto slots = members.size().slots;
  SlotSet half(slots);
  half.insert({0, slots / 2});
  bool is_half = true;
  return microseconds(repetitions, [&] {
    is_half = !is_half;
    members.open(members.open_step() + (is_half ? 0 : 1), is_half ? half : SlotSet::full(slots));
    return all_report(members, by_turn);
  });
}

// A job in item mode, a tick of virtual time after the other: ten heartbeats a second of each worker, each with an item
// that it has delivered, and 20 reports a second of each lane.
class ItemTraffic {
 public:
  // So many reports come in a turn.
  ItemTraffic(Members& members, std::size_t by_turn) : members_(members), by_turn_(by_turn) {}

  struct Costs {
    Cost reports;
    Cost items;  // with all reports, heartbeats and ticks meanwhile
  };

  Costs tick() {
    phase_ = 1 - phase_;
    Costs costs;
    costs.items = cost_of(members_, [&] {
      members_.tick();
      std::uint64_t done = 0;
      for (std::uint32_t part = 0; part < kParts; ++part) {
        done += beat(part);
        add(costs.reports, report(part, part + 1 == kParts));
      }
      return done;
    });
    return costs;
  }

 private:
  static constexpr std::uint32_t kParts = 40;  // of a tick, in which all that come are heard one after the other

  // Each worker every second tick. How many items are done.
  std::uint64_t beat(std::uint32_t part) {
    const auto& sessions = members_.sessions();
    LeadTurn beats;
    std::uint64_t done = 0;
    for (std::size_t i = phase_ * kParts + part; i < sessions.size(); i += std::size_t{2} * kParts) {
      const auto beat = members_.delivery_of(sessions[i], 1);
      done += beat.delivered.size();
      beats.push_back({sessions[i], beat});
    }
    members_.hear(a_turn_each(std::move(beats)));
    return done;
  }
  // Each lane once a tick. Those that do not fill a turn wait for others, until the tick's end.
  Cost report(std::uint32_t part, bool is_last) {
    std::vector<LeadTurn> turns;
    std::uint32_t number = 0;
    members_.for_lanes([&](LaneId lane) {
      if (number++ % kParts == part) {
        waiting_.push_back({lane, members_.report_of(lane)});
      }
      if (waiting_.size() == by_turn_) {
        turns.push_back(std::exchange(waiting_, {}));
      }
    });
    if (is_last && !waiting_.empty()) {
      turns.push_back(std::exchange(waiting_, {}));
    }
    return turns.empty() ? Cost() : heard(turns);
  }
  Cost heard(const std::vector<LeadTurn>& turns) {
    return cost_of(members_, [&] {
      members_.hear(turns);
      std::uint64_t reports = 0;
      for (const auto& turn : turns) {
        reports += turn.size();
      }
      return reports;
    });
  }

  Members& members_;
  std::size_t by_turn_;
  std::size_t phase_ = 0;
  LeadTurn waiting_;
};

double item_us(Members& members, std::size_t reports_by_turn, unsigned repetitions) {
  ItemTraffic traffic(members, reports_by_turn);
  return microseconds(repetitions, [&] { return traffic.tick().items; });
}

double item_report_us(Members& members, std::size_t by_turn, unsigned repetitions) {
  ItemTraffic traffic(members, by_turn);
  return microseconds(repetitions, [&] { return traffic.tick().reports; });
}

// With progress.
double report_us(Members& members, std::size_t by_turn, unsigned repetitions) {
  const auto measure = members.size().items ? item_report_us : round_report_us;
  return measure(members, by_turn, repetitions);
}

// One worker's goodbye, and all orders that follow from it; another one comes between two of them.
double death_ms(Members& members, unsigned repetitions) {
  std::vector<double> times;
  for (unsigned repetition = 0; repetition < 5 * repetitions; ++repetition) {
    const auto cost = cost_of(members, [&] {
      members.leave();
      members.tick();
      return std::uint64_t{1};
    });
    times.push_back(cost.seconds * 1e3);
    members.join();
    members.tick();
  }
  return spread_of(times).median;
}

// In each of a second's 20 ticks a two-hundredth of the workers leave, but one at least, and as many others come.
double churn_us(Members& members, unsigned repetitions) {
  const auto by_tick = std::max<std::uint32_t>(1, members.size().workers / 200);
  return microseconds(repetitions, [&] {
    return cost_of(members, [&] {
      for (std::uint32_t gone = 0; gone < by_tick; ++gone) {
        members.leave();
        members.join();
      }
      members.tick();
      return std::uint64_t{2} * by_tick;
    });
  });
}

// Of one core, for ten heartbeats a second of each worker, and 20 reports a second of each lane.
double heartbeats_percent(const Size& size, double microseconds) { return 10.0 * size.workers * microseconds / 1e4; }
double reports_percent(const Size& size, double microseconds) { return 20.0 * size.all_lanes() * microseconds / 1e4; }

Value item_of(Members& members, std::size_t reports_by_turn, unsigned repetitions) {
  return members.size().items ? Value(item_us(members, reports_by_turn, repetitions)) : Value(std::string("-"));
}

// What is under way is reported, and all were in their places to the end.
void check_at_the_end(Members& members) {
  all_report(members, 1);
  members.check();
}

Row row_of(const Size& size, unsigned repetitions) {
  Members members(size);
  const auto heartbeat = heartbeat_us(members, repetitions);
  const auto wire = heartbeat_wire_us(members, repetitions);
  const auto report = report_us(members, 1, repetitions);
  const auto report_of_32 = report_us(members, 32, repetitions);
  const auto heartbeats = heartbeats_percent(size, heartbeat);
  const auto item = item_of(members, 1, repetitions);
  const auto item_of_32 = item_of(members, 32, repetitions);
  const auto death = death_ms(members, repetitions);
  const auto churn = churn_us(members, repetitions);
  check_at_the_end(members);
  return {{"mode", std::string(size.items ? "async" : "sync")},
          {"workers", std::to_string(size.workers)},
          {"lanes", std::to_string(size.all_lanes())},
          {"slots", std::to_string(size.slots)},
          {"heartbeat_us", heartbeat},
          {"heartbeat_wire_us", wire},
          {"report_us", report},
          {"report_32_us", report_of_32},
          {"heartbeats_percent", heartbeats},
          {"core_percent", heartbeats + reports_percent(size, report)},
          {"core_32_percent", heartbeats + reports_percent(size, report_of_32)},
          {"item_us", item},
          {"item_32_us", item_of_32},
          {"death_ms", death},
          {"churn_us", churn}};
}

}  // namespace

Result lead(const Options& options) {
  Result result;
  result.how =
      "processor time of the lead's core, a turn for each message. heartbeat: of a worker, with nothing new; wire: "
      "with decoding it and encoding the answer. report: of a lane, with progress, alone in its turn; 32: with 31 "
      "others. "
      "percent: of one core, for ten heartbeats a second of each worker, and with 20 reports a second of each lane. "
      "item: granted, delivered and covered, with all reports, ticks and heartbeats meanwhile, each of which brings "
      "one. death: of one worker, until all orders are out. churn: who leaves or comes, one at least and a tenth of "
      "all each second.";
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
