#include "tests/simulation/cluster.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

constexpr Micros kEnough = 6'000'000;  // after the last fault every life is over by then

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

// ---- processes

Process::Process(Cluster& cluster, ProcessId id, std::string name)
    : cluster_(cluster),
      id_(id),
      name_(std::move(name)),
      offset_(cluster.life().random_clocks ? cluster.random().between(1, 1U << 30U) : 1'000'000) {}

Micros Process::clock() const { return cluster_.now() + offset_; }

Micros Process::next_tick() {
  const auto tick = cluster_.life().tick;
  return cluster_.life().random_clocks ? cluster_.random().between(tick / 2, tick + tick / 2) : tick;
}

void Process::end(const std::string& failure) {
  alive_ = false;
  failure_ = failure;
  if (cluster_.traces()) {
    cluster_.say(name_ + (failure.empty() ? " ends" : " ends: " + failure));
  }
}

// ---- a life

Cluster::Cluster(const LifeSpec& life) : life_(life), random_(life.seed), judge_(life) {}

Cluster::~Cluster() = default;

LifeFacts Cluster::run() {
  auto lead = std::make_unique<LeadShell>(*this, kLead);
  lead_ = lead.get();
  processes_.push_back(std::move(lead));
  for (std::uint32_t lane = 0; lane < life_.all_lanes(); ++lane) {
    auto shell = std::make_unique<LaneShell>(*this, lane_id(lane), lane);
    lanes_.push_back(shell.get());
    processes_.push_back(std::move(shell));
  }
  for (auto& process : processes_) {
    process->tick();
    schedule_tick(process->id());
  }
  for (const auto& worker : life_.workers) {
    schedule(worker.joins_at, kNobody, [this, worker] { join(worker); });
  }
  schedule_faults();
  while (!is_over()) {
    require(!queue_.empty(), "nothing can happen any more, and the life is not over");
    auto event = queue_.top();
    queue_.pop();
    now_ = event.time;
    dispatch(std::move(event));
    check_progress();
  }
  conclude();
  return facts_;
}

void Cluster::dispatch(Event event) {
  if (event.process != kNobody) {
    auto& process = *processes_[event.process];
    if (!process.alive()) {
      return;
    }
    if (process.paused_until() > now_) {
      return schedule(process.paused_until(), event.process, std::move(event.what));
    }
  }
  ++facts_.events;
  event.what();
}

void Cluster::schedule(Micros time, ProcessId process, std::function<void()> what) {
  queue_.push(Event{time, sequence_++, process, std::move(what)});
}

void Cluster::schedule_tick(ProcessId process) {
  schedule(now_ + processes_[process]->next_tick(), process, [this, process] {
    processes_[process]->tick();
    schedule_tick(process);
  });
}

void Cluster::later(const Process& whose, Micros delay, std::function<void()> what) {
  schedule(now_ + delay, whose.id(), std::move(what));
}

void Cluster::say(const std::string& line) const {
  if (trace) {
    char time[32];
    std::snprintf(time, sizeof time, "%5llu.%03llu  ", static_cast<unsigned long long>(now_ / 1000),
                  static_cast<unsigned long long>(now_ % 1000));
    trace(time + line);
  }
}

// ---- the network

void Cluster::send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload) {
  const auto fate = this->fate(from.id(), to, message);
  if (traces()) {
    say_message(from, to, message, fate.copies);
  }
  if (fate.copies == 0) {
    return;
  }
  const auto shared = std::make_shared<const Message>(std::move(message));
  for (std::uint32_t copy = 0; copy < fate.copies; ++copy) {
    schedule(arrival(from.id(), to, fate), to,
             [this, sender = from.id(), to, shared, payload] { processes_[to]->receive(sender, *shared, payload); });
  }
}

void Cluster::say_message(const Process& from, ProcessId to, const Message& message, std::uint32_t copies) {
  if (brief) {
    if (is_sign_of_life(message)) {
      return;
    }
    if (const auto* assign = std::get_if<Assign>(&message);
        assign != nullptr && std::exchange(orders_said_[to], assign->order) == assign->order) {
      return;
    }
  }
  const char* note = copies == 0 ? "  -- lost" : copies > 1 ? "  -- twice" : "";
  say(from.name() + " -> " + processes_[to]->name() + ": " + words(message) + note);
}

Fate Cluster::fate(ProcessId from, ProcessId to, const Message& message) {
  if (script) {
    return script(from, to, message).value_or(Fate{});
  }
  Fate fate;
  if (!faulty()) {
    return fate;
  }
  if (is_cut(from, to) || random_.chance(life_.faults.loss)) {
    fate.copies = 0;
  } else if (random_.chance(life_.faults.duplication)) {
    fate.copies = 2;
  }
  faults_seen_ += fate.copies != 1 ? 1 : 0;
  return fate;
}

Micros Cluster::arrival(ProcessId from, ProcessId to, const Fate& fate) {
  auto& last = last_arrival_[{from, to}];
  if (script) {
    last = std::max(last, now_ + (fate.delay != 0 ? fate.delay : life_.delay_low));
    return last;
  }
  Micros time = now_ + random_.between(life_.delay_low, life_.delay_high);
  if (faulty() && random_.chance(life_.faults.slowness)) {
    ++faults_seen_;
    time += random_.between(0, life_.faults.slow_delay);
  }
  if (faulty() && random_.chance(life_.faults.reordering)) {
    ++faults_seen_;
    return time;
  }
  last = std::max(last, time);
  return last;
}

// ---- faults

std::vector<ProcessId> Cluster::live_workers() const {
  std::vector<ProcessId> live;
  for (const auto* worker : workers_) {
    if (worker->alive()) {
      live.push_back(worker->id());
    }
  }
  return live;
}

void Cluster::join(LifeWorker worker) {
  if (lead_over_) {
    return;
  }
  const auto id = static_cast<ProcessId>(processes_.size());
  auto shell = std::make_unique<WorkerShell>(*this, id, worker);
  workers_.push_back(shell.get());
  processes_.push_back(std::move(shell));
  facts_.late_join = facts_.late_join || lead_->core().phase() >= Lead::Phase::training;
  if (traces()) {
    say(processes_.back()->name() + " starts");
  }
  processes_[id]->tick();
  schedule_tick(id);
}

void Cluster::crash(ProcessId worker) {
  ++faults_seen_;
  processes_[worker]->die();
  if (traces()) {
    say(processes_[worker]->name() + " crashes");
  }
}

void Cluster::schedule_crash() {
  schedule(random_.between(5'000, life_.faults.until), kNobody, [this] {
    const auto live = live_workers();
    if (!live.empty() && !lead_over_) {
      crash(live[random_.between(0, live.size() - 1)]);
      const auto worker = life_.workers[random_.between(0, life_.workers.size() - 1)];
      schedule(now_ + random_.between(1'000, 120'000), kNobody, [this, worker] { join(worker); });
    }
  });
}

void Cluster::schedule_pause() {
  schedule(random_.between(5'000, life_.faults.until), kNobody, [this] {
    const auto live = live_workers();
    if (!live.empty()) {
      auto& worker = *processes_[live[random_.between(0, live.size() - 1)]];
      worker.pause(now_ + random_.between(5'000, life_.faults.worker_pause));
      ++faults_seen_;
      if (traces()) {
        say(worker.name() + " stands still");
      }
    }
  });
}

void Cluster::schedule_cut() {
  schedule(random_.between(2'000, life_.faults.until), kNobody, [this] {
    const auto live = live_workers();
    if (!live.empty()) {
      const auto worker = live[random_.between(0, live.size() - 1)];
      const auto peer = static_cast<ProcessId>(random_.between(kLead, life_.all_lanes()));
      cut_until_[{worker, peer}] = now_ + random_.between(5'000, life_.faults.cut);
      if (traces()) {
        say("the link between " + processes_[worker]->name() + " and " + processes_[peer]->name() + " is cut");
      }
    }
  });
}

void Cluster::schedule_stranger() {
  schedule(random_.between(2'000, life_.faults.until), kNobody, [this] {
    const SessionId session = kFirstStranger + random_.between(0, 5);
    const auto lane = static_cast<std::uint32_t>(random_.between(0, life_.all_lanes()));
    if (lane == life_.all_lanes()) {
      if (lead_->alive()) {
        lead_->receive_strange(session, strange_to_lead(random_));
      }
    } else if (lanes_[lane]->alive()) {
      const bool says_hello = random_.chance(0.8);
      lanes_[lane]->receive_strange(session, says_hello, strange_to_lane(random_, life_, lane));
    }
  });
}

bool Cluster::is_cut(ProcessId from, ProcessId to) const {
  const auto link = cut_until_.find({std::max(from, to), std::min(from, to)});
  return link != cut_until_.end() && now_ < link->second;
}

void Cluster::schedule_faults() {
  const auto& faults = life_.faults;
  for (std::uint32_t i = 0; i < faults.crashes; ++i) {
    schedule_crash();
  }
  for (std::uint32_t i = 0; i < faults.worker_pauses; ++i) {
    schedule_pause();
  }
  for (std::uint32_t i = 0; i < faults.cuts; ++i) {
    schedule_cut();
  }
  for (std::uint32_t i = 0; i < faults.strangers; ++i) {
    schedule_stranger();
  }
  for (std::uint32_t i = 0; i < faults.shard_pauses; ++i) {
    schedule(random_.between(2'000, faults.until), kNobody, [this] {
      // One draw to a statement: the order of arguments is the compiler's.
      const auto shard = static_cast<std::uint32_t>(random_.between(0, life_.shards - 1));
      pause_shard(shard, random_.between(5'000, life_.faults.shard_pause));
    });
  }
  for (std::uint32_t i = 0; i < faults.lead_pauses; ++i) {
    schedule(random_.between(2'000, faults.until), kNobody, [this] {
      ++faults_seen_;
      lead_->pause(now_ + random_.between(5'000, life_.faults.lead_pause));
      say("the lead stands still");
    });
  }
  if (faults.death) {
    schedule_death(random_.between(5'000, faults.until));
  }
}

void Cluster::pause_shard(std::uint32_t shard, Micros span) {
  ++faults_seen_;
  for (std::uint32_t lane = 0; lane < life_.lanes; ++lane) {
    lanes_[shard * life_.lanes + lane]->pause(now_ + span);
  }
  if (shard == 0 && life_.lead_in_shard_0) {
    lead_->pause(now_ + span);
  }
  if (traces()) {
    say("shard " + number(shard) + " stands still");
  }
}

void Cluster::schedule_death(Micros time) {
  schedule(time, kNobody, [this] {
    // Before the timeline is recorded a shard is not part of the job yet.
    if (lead_->core().phase() == Lead::Phase::assembling) {
      return schedule_death(now_ + 5'000);
    }
    if (!lead_over_ && lead_->core().phase() < Lead::Phase::persisting) {
      kill_shard(static_cast<std::uint32_t>(random_.between(0, life_.shards - 1)));
    }
  });
}

void Cluster::kill_shard(std::uint32_t shard) {
  ++faults_seen_;
  dead_shard_ = shard;
  for (std::uint32_t lane = 0; lane < life_.lanes; ++lane) {
    lanes_[shard * life_.lanes + lane]->die();
  }
  if (shard == 0 && life_.lead_in_shard_0) {
    lead_->die();
  }
  if (traces()) {
    say("shard " + number(shard) + " dies");
  }
}

// ---- the end

bool Cluster::lead_died() const { return life_.lead_in_shard_0 && dead_shard_ == std::optional<std::uint32_t>(0); }

bool Cluster::is_over() {
  if (!lead_over_ && !lead_->alive()) {
    lead_over_ = true;
    for (auto* lane : lanes_) {
      if (!lane->has_heard_lead()) {
        lane->die();  // it waits for a lead to come up, as it should: any order of starts is allowed
      }
    }
    for (auto* worker : workers_) {
      if (!worker->alive()) {
        continue;
      }
      if (!lead_died() && lead_->believes_in(worker->id()) && worker->paused_until() <= now_) {
        continue;  // the lead had to see to it that this one learns of the end
      }
      worker->excuse();
      if (!worker->has_heard_lead()) {
        worker->die();  // it knows of no job yet and goes on asking; nobody is left to answer
      }
    }
  }
  return lead_over_ &&
         std::none_of(processes_.begin(), processes_.end(), [](const auto& process) { return process->alive(); });
}

void Cluster::check_progress() const {
  if (now_ <= life_.faults.until + kEnough) {
    return;
  }
  std::string still;
  for (const auto& process : processes_) {
    still += process->alive() ? (still.empty() ? "" : ", ") + process->name() : "";
  }
  throw Violation("the life is not over " + number(kEnough / 1000) + " ms after the last fault; the lead is in phase " +
                  lead_->core().status().phase + " at step " + number(lead_->core().status().step) +
                  "; still there: " + still);
}

void Cluster::conclude() {
  const auto status = lead_->core().status();
  facts_.backup = status.backups > 0;
  facts_.lost_worker = status.lost_workers > 0;
  facts_.calm = faults_seen_ == 0;
  facts_.time = now_;
  for (const auto* lane : lanes_) {
    lane->gather(facts_);
  }
  for (const auto* worker : workers_) {
    facts_.retry = facts_.retry || worker->core().retries() > 0;
  }
  if (dead_shard_) {
    facts_.death = true;
    return conclude_after_death();
  }
  for (const auto& process : processes_) {
    if (process->failure().empty()) {
      continue;
    }
    const auto* worker = dynamic_cast<const WorkerShell*>(process.get());
    if (worker == nullptr || !worker->excused()) {
      throw Violation(process->name() + " ends with: " + process->failure());
    }
    facts_.unheard_end = true;
  }
  judge_.finished_well(status);
}

void Cluster::conclude_after_death() const {
  if (!lead_died() && lead_->failure().find("shard " + number(*dead_shard_) + " ") == std::string::npos) {
    throw Violation("shard " + number(*dead_shard_) + " died, and the lead ends with: \"" + lead_->failure() + "\"");
  }
  for (std::uint32_t lane = 0; lane < life_.all_lanes(); ++lane) {
    if (lane / life_.lanes != *dead_shard_ && lanes_[lane]->has_heard_lead() && lanes_[lane]->failure().empty()) {
      throw Violation(lanes_[lane]->name() + " ends as if the job had finished");
    }
  }
}

}  // namespace ballast::simulation
