#include "tests/simulation/cluster.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

// What a worker that hangs does not end.
bool is_computation(const Happening& what) {
  const auto* pending = std::get_if<Pending>(&what);
  const auto* own = pending == nullptr ? nullptr : std::get_if<WorkerPending>(pending);
  return own != nullptr && !std::holds_alternative<Preparation>(*own);
}

}  // namespace

Cluster::Cluster(const LifeSpec& life) : Host(life), random_(life.seed), network_(life) {
  storage_.busy_until.resize(life.shards);
  storage_.away.resize(life.shards);
  for (std::uint32_t shard = 0; shard < life.shards; ++shard) {
    make_disk(world_.disks.present[shard], shard);
  }
}

LifeFacts Cluster::run() {
  run_.calm_since = life().faults.until;
  start_cluster();
  for (const auto& worker : life().workers) {
    schedule(worker.joins_at, WorkerJoins{worker});
  }
  schedule_faults();
  while (!is_over()) {
    require(!agenda_.empty(), "nothing can happen any more, and the life is not over");
    dispatch(agenda_.take());
    check_progress();
  }
  conclude();
  return facts();
}

// ---- time

void Cluster::dispatch(Agenda::Entry entry) {
  if (entry.process != kNobody) {
    if (!is_alive(entry.process)) {
      return;
    }
    if (const auto until = processes_[entry.process].stands_until; until > now()) {
      return agenda_.put_off(std::move(entry), until);
    }
    if (const auto until = processes_[entry.process].hangs_until; until > now() && is_computation(entry.what)) {
      facts().note(Fact::hung);
      return agenda_.put_off(std::move(entry), until);
    }
  }
  ++facts().events;
  std::visit([&](const auto& what) { happen(entry.process, what); }, entry.what);
}

void Cluster::happen(ProcessId to, const Delivery& delivery) {
  if (delivery.connection != 0 && !is_there(to, delivery)) {
    return;
  }
  if (auto* lane = std::get_if<LaneShell>(&processes_[to].shell)) {
    return lane->receive(*this, delivery.from, delivery.connection, *delivery.message, delivery.payload);
  }
  const auto receive = [&](auto& shell) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(shell)>, LaneShell>) {
      shell.receive(*this, delivery.from, *delivery.message, delivery.payload);
    }
  };
  std::visit(receive, processes_[to].shell);
}

// What its connection has not lost.
bool Cluster::is_there(ProcessId to, const Delivery& delivery) {
  if (lane_life(to) == nullptr) {
    return connections_.reaches_worker(to, delivery.from, delivery.connection, delivery.arrives);
  }
  return connections_.arrives(delivery.from, to, delivery.connection, delivery.arrives,
                              payload_bytes(*delivery.message));
}

std::uint64_t Cluster::payload_bytes(const Message& message) const {
  const auto* push = std::get_if<Push>(&message);
  return push == nullptr ? 0 : life().chunks[push->chunk].bytes;
}

void Cluster::happen(ProcessId process, const TickDue& /*due*/) {
  tick(process);
  schedule_tick(process);
}

void Cluster::happen(ProcessId process, const Pending& pending) {
  auto& shell = processes_[process].shell;
  if (const auto* lead = std::get_if<LeadPending>(&pending)) {
    std::get<LeadShell>(shell).carry_out(*this, *lead);
  } else if (const auto* lane = std::get_if<LanePending>(&pending)) {
    std::get<LaneShell>(shell).carry_out(*this, *lane);
  } else {
    std::get<WorkerShell>(shell).carry_out(*this, std::get<WorkerPending>(pending));
  }
}

void Cluster::happen(ProcessId /*nobody*/, const FaultEvent& fault) {
  std::visit([&](const auto& what) { carry_out(what); }, fault);
}

void Cluster::tick(ProcessId process) {
  auto& hosted = processes_[process];
  const auto clock = hosted.clock.read(now());
  tell_of_connections(process);
  if (is_alive(process)) {  // what it was told has let it do what was held up, in the middle of which it may crash
    std::visit([&](auto& shell) { shell.tick(*this, clock); }, hosted.shell);
  }
}

void Cluster::schedule_tick(ProcessId process) {
  const auto tick = life().tick;
  const auto next = life().random_clocks ? random_.between(tick / 2, tick + tick / 2) : tick;
  agenda_.add(now() + next, process, TickDue{});
}

void Cluster::later(ProcessId whose, Wait wait, Pending what) {
  Micros delay = wait.least + (wait.chance == 0 ? 0 : some(wait.chance));
  if (wait.line == Wait::Line::disk) {
    auto& busy = storage_.busy_until[shard_of(*lane_life(whose))];
    busy = std::max(busy, now()) + delay;
    delay = busy - now();
  }
  agenda_.add(now() + delay, whose, std::move(what));
}

Micros Cluster::Clock::read(Micros now) const {
  return rate == 1 ? now + offset : static_cast<Micros>(static_cast<double>(now) * rate) + offset;
}

Cluster::Clock Cluster::draw_clock() {
  Clock clock;
  clock.offset = life().random_clocks ? random_.between(1, 1U << 30U) : 1'000'000;
  if (life().faults.clock_skew) {
    clock.rate = 0.01 * static_cast<double>(random_.between(50, 200));
  }
  return clock;
}

// ---- processes

Process& Cluster::process(ProcessId process) {
  return std::visit([](auto& shell) -> Process& { return shell; }, processes_[process].shell);
}

const Process& Cluster::base(const Shell& shell) {
  return std::visit([](const auto& each) -> const Process& { return each; }, shell);
}

void Cluster::stand(const Process& process, Micros until) {
  auto& stands = processes_[process.id()].stands_until;
  stands = std::max(stands, until);
}

bool Cluster::is_lead(ProcessId process) const { return std::holds_alternative<LeadShell>(processes_[process].shell); }

const LaneLife* Cluster::lane_life(ProcessId process) const {
  const auto* lane = std::get_if<LaneShell>(&processes_[process].shell);
  return lane == nullptr ? nullptr : &lane->life();
}

ProcessId Cluster::lane_id(std::uint32_t lane, Incarnation incarnation) const {
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    const auto* life = lane_life(process);
    if (life != nullptr && life->lane == lane && life->incarnation == incarnation) {
      return process;
    }
  }
  return kNobody;
}

bool Cluster::was_disturbed() const {
  return roster_.leads > 1 || world_.facts.has(Fact::left) || world_.facts.has(Fact::lost_commits) ||
         world_.judge.facts().has(Fact::rollback) || roster_.lead->core().status().lost_workers > 0;
}

void Cluster::ledger_written(bool goes_back) {
  take_listed(world_.ledger.ledger);
  if (goes_back) {
    disturb();  // work of many steps is to be done again
  }
}

// ---- what fails

bool Cluster::write_fails() {
  if (!faulty() || !random_.chance(life().faults.write_failure)) {
    return false;
  }
  ++faults_seen_;
  facts().note(Fact::snapshot_failed);
  return true;
}

bool Cluster::draws_unread() { return life().faults.unread > 0 && faulty() && random_.chance(life().faults.unread); }

bool Cluster::copy_fails(std::uint32_t shard) {
  const bool is_stuck = life().faults.copy_stuck && shard == 1;
  if (!faulty() || !(is_stuck || random_.chance(life().faults.copy_failure))) {
    return false;
  }
  ++faults_seen_;
  facts().note(Fact::copy_failed);
  return true;
}

bool Cluster::takes_name(RunId run) {
  if (!world_.copies.is_taken(run) && faulty() && random_.chance(life().faults.copies_taken)) {
    ++faults_seen_;
    world_.copies.take(run);
  }
  return world_.copies.is_taken(run);
}

// ---- the network

void Cluster::send(const Process& from, ProcessId to, Message message, std::optional<Payload> payload) {
  if (to == kNobody) {
    return;
  }
  auto fate = network_.fate(random_, now(), from.id(), to, message);
  const auto ends = worker_and_lane(from.id(), to);
  ConnectionId connection = 0;
  if (ends) {
    const auto [worker, lane] = *ends;
    connection = worker == from.id() ? connections_.newest(worker, lane) : connections_.answered(worker, lane);
    if (fate.copies == 0) {
      end_connection(worker, lane, connection);
    }
    fate.copies = connection == 0 || connections_.is_over(worker, lane, connection) ? 0 : 1;
  }
  if (traces()) {
    say_message(from, to, message, fate.copies);
  }
  if (fate.copies == 0) {
    return;
  }
  if (ends && ends->first == from.id()) {
    connections_.sent(from.id(), to, connection, payload_bytes(message));
  }
  const auto shared = std::make_shared<const Message>(std::move(message));
  for (std::uint32_t copy = 0; copy < fate.copies; ++copy) {
    const auto arrives = network_.arrival(random_, now(), from.id(), to, fate, connection);
    agenda_.add(arrives, to, Delivery{from.id(), connection, arrives, shared, payload});
  }
}

// ---- connections

std::optional<std::pair<ProcessId, ProcessId>> Cluster::worker_and_lane(ProcessId one, ProcessId other) const {
  const auto is_worker = [&](ProcessId id) { return std::holds_alternative<WorkerShell>(processes_[id].shell); };
  if (is_worker(one) && lane_life(other) != nullptr) {
    return std::pair(one, other);
  }
  if (is_worker(other) && lane_life(one) != nullptr) {
    return std::pair(other, one);
  }
  return std::nullopt;
}

// Some of what is under way still arrives.
void Cluster::end_connection(ProcessId worker, ProcessId lane, ConnectionId connection) {
  const auto lost_after = network_.is_scripted() ? Connections::kNever : now() + random_.between(0, life().delay_high);
  if (connection == 0 || !connections_.end(worker, lane, connection, lost_after)) {
    return;
  }
  facts().note(Fact::connection_lost);
  if (traces()) {
    say("the connection of " + process(worker).name() + " to " + process(lane).name() + " ends");
  }
}

void Cluster::drop_connection(ProcessId lane, ProcessId worker, ConnectionId connection) {
  ++faults_seen_;
  facts().note(Fact::connection_dropped);
  end_connection(worker, lane, connection);
}

// Both ends find it out when they look.
void Cluster::tell_of_connections(ProcessId process) {
  auto& shell = processes_[process].shell;
  if (auto* worker = std::get_if<WorkerShell>(&shell)) {
    for (const auto lane : connections_.over(process, now())) {
      worker->connection_over(*this, lane);
    }
  } else if (auto* lane = std::get_if<LaneShell>(&shell)) {
    for (const auto& [of, connection] : connections_.ended(process, [&](ProcessId id) { return is_alive(id); })) {
      lane->connection_ended(*this, of, connection);
    }
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
  say(from.name() + " -> " + process(to).name() + ": " + words(message) + note);
}

// ---- the trace

void Cluster::say(const std::string& line) const {
  if (trace) {
    char time[32];
    std::snprintf(time, sizeof time, "%5llu.%03llu  ", static_cast<unsigned long long>(now() / 1000),
                  static_cast<unsigned long long>(now() % 1000));
    trace(time + line);
  }
}

}  // namespace ballast::simulation
