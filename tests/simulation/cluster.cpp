#include "tests/simulation/cluster.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

constexpr Micros kEnough = 6'000'000;         // after the last fault every life is over by then
constexpr Micros kEnoughSkewed = 18'000'000;  // if its clocks run at half their rate, and its patience is longer

}  // namespace

// ---- processes

Process::Process(Cluster& cluster, ProcessId id, std::string name)
    : cluster_(cluster),
      id_(id),
      name_(std::move(name)),
      offset_(cluster.life().random_clocks ? cluster.random().between(1, 1U << 30U) : 1'000'000) {
  if (cluster.life().faults.clock_skew) {
    rate_ = 0.01 * static_cast<double>(cluster.random().between(50, 200));
  }
}

Micros Process::clock() const {
  return rate_ == 1 ? cluster_.now() + offset_
                    : static_cast<Micros>(static_cast<double>(cluster_.now()) * rate_) + offset_;
}

Micros Process::next_tick() {
  const auto tick = cluster_.life().tick;
  return cluster_.life().random_clocks ? cluster_.random().between(tick / 2, tick + tick / 2) : tick;
}

void Process::end(const std::string& failure) {
  alive_ = false;
  ended_ = true;
  failure_ = failure;
  if (cluster_.traces()) {
    cluster_.say(name_ + (failure.empty() ? " ends" : " ends: " + failure));
  }
}

// ---- a life

Cluster::Cluster(const LifeSpec& life)
    : life_(life),
      random_(life.seed),
      disks_(life.shards),
      copies_(life),
      judge_(life, disks_, copies_),
      disk_busy_until_(life.shards),
      non_finite_(life.non_finite) {
  for (std::uint32_t shard = 0; shard < life_.shards; ++shard) {
    make_disk(disks_.present[shard], shard);
  }
}

namespace {

// In another file than the job's.
ChunkValue other(const ChunkValue& value, std::uint32_t file) {
  return {Random::mix(value.weights ^ file), value.state};
}

}  // namespace

// The weights before step 0 are there, unless they are read from a file: any server can make them.
void Cluster::make_disk(Disk& disk, std::uint32_t shard) {
  disk = {};
  disk.life.database = ++last_database_;
  if (!life_.init_from) {
    write_initial_weights(disk, shard, 0);
  }
}

// A life of a server whose database has not begun reads its file, which may be the wrong one; nobody is given the same
// wrong one as another. Then it is refused and ends, or was there before the others and is ended by the user.
void Cluster::read_initial_weights(std::uint32_t shard, std::uint64_t database, Incarnation incarnation) {
  auto& disk = disks_.of(shard, database);
  disk.initial_weights.clear();
  if (!life_.init_from || disk.has_begun()) {
    return;
  }
  const bool is_other = faulty() && other_files_ < life_.faults.other_files && random_.chance(0.5);
  other_files_ += is_other ? 1 : 0;
  disk.initial_weights = is_other ? "another, " + std::to_string(other_files_) : kOwnFile;
  write_initial_weights(disk, shard, is_other ? other_files_ : 0);
  if (is_other) {
    ++faults_seen_;
    const LaneLife life{0, shard * life_.lanes, incarnation, 0, disk.life};
    schedule(now_ + random_.between(10'000, 150'000), kNobody, [this, life, run = run_begins_] {
      const auto process = lane_id(life.lane, life.incarnation);
      if (!lead_over_ && run == run_begins_ && ledger_.ledger.timeline == 0 && is_alive(process)) {
        end_server(life);
      }
    });
  }
}

void Cluster::write_initial_weights(Disk& disk, std::uint32_t shard, std::uint32_t file) {
  for (ChunkId chunk = 0; chunk < life_.statistics(); ++chunk) {
    if (life_.chunks[chunk].lane / life_.lanes == shard) {
      const auto value = initial(life_, chunk);
      disk.write({0, 0}, chunk, file == 0 ? value : other(value, file));
    }
  }
  disk.sync();
  for (std::uint32_t lane = shard * life_.lanes; lane < (shard + 1) * life_.lanes; ++lane) {
    disk.seal({0, 0}, lane);
  }
}

Cluster::~Cluster() = default;

LifeFacts Cluster::run() {
  calm_since_ = life_.faults.until;
  start_cluster();
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

void Cluster::start_cluster() {
  run_begins_ = processes_.size();
  lead_over_ = false;
  said_to_some_ = false;
  lanes_.assign(life_.all_lanes(), nullptr);
  seconds_.assign(life_.all_lanes(), nullptr);
  start_lead();
  for (std::uint32_t shard = 0; shard < life_.shards; ++shard) {
    start_shard(shard);
  }
}

void Cluster::start_lead() {
  const auto id = static_cast<ProcessId>(processes_.size());
  auto lead = std::make_unique<LeadShell>(*this, id);
  lead_ = lead.get();
  ++leads_;
  processes_.push_back(std::move(lead));
  judge_.lead_starts(now_);
  facts_.note(Fact::paused_lead, ledger_.ledger.pause != Pause::none);
  lead_->tick();
  schedule_tick(id);
  if (said_to_some_) {
    for (const auto& worker : life_.workers) {
      schedule(now_ + worker.joins_at, kNobody, [this, worker] { join(worker); });
    }
  }
}

void Cluster::start_shard(std::uint32_t shard) {
  disk_busy_until_[shard] = now_;
  auto& disk = disks_.present[shard];
  disk.journal.kill(random_);  // if it has not crashed but left
  start_lanes(shard, disk.life.database, lanes_);
}

void Cluster::start_lanes(std::uint32_t shard, std::uint64_t database, std::vector<LaneShell*>& lanes) {
  const auto incarnation = ++last_incarnation_;
  disks_.of(shard, database).begin_life(life_.lanes);
  read_initial_weights(shard, database, incarnation);
  judge_.server_starts(shard, incarnation, disks_.of(shard, database).initial_weights);
  for (std::uint32_t i = 0; i < life_.lanes; ++i) {
    const auto lane = shard * life_.lanes + i;
    const auto id = static_cast<ProcessId>(processes_.size());
    auto shell = std::make_unique<LaneShell>(*this, id, lane, incarnation, database);
    lanes[lane] = shell.get();
    processes_.push_back(std::move(shell));
    if (&lanes == &lanes_) {
      judge_.lane_starts(lanes[lane]->life());
    }
    lanes[lane]->tick();
    schedule_tick(id);
  }
}

bool Cluster::is_lead(ProcessId process) const {
  return dynamic_cast<const LeadShell*>(processes_[process].get()) != nullptr;
}

ProcessId Cluster::lead_id() const { return lead_->id(); }

const LaneLife* Cluster::lane_life(ProcessId process) const {
  const auto* lane = dynamic_cast<const LaneShell*>(processes_[process].get());
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

Micros Cluster::storage_delay(std::uint32_t shard, Micros span) {
  auto& busy = disk_busy_until_[shard];
  busy = std::max(busy, now_) + some(span);
  return busy - now_;
}

void Cluster::tell_committed(const LaneLife& life, std::size_t through) {
  const auto shard = life.lane / life_.lanes;
  const auto& journal = disks_.of(shard, life.database.database).journal;
  const bool is_present = lanes_[life.lane]->life().incarnation == life.incarnation;
  for (std::uint32_t i = 0; i < life_.lanes; ++i) {
    auto* lane = (is_present ? lanes_ : seconds_)[shard * life_.lanes + i];
    std::uint64_t ticket = 0;
    for (std::size_t record = 0; record < through; ++record) {
      ticket = journal.records[record].process == lane->id() ? journal.records[record].ticket : ticket;
    }
    if (ticket > 0) {
      later(*lane, some(200), [lane, ticket, through] { lane->committed(ticket, through); });
    }
  }
}

bool Cluster::was_disturbed() const {
  return leads_ > 1 || facts_.has(Fact::left) || facts_.has(Fact::lost_commits) || judge_.facts().has(Fact::rollback) ||
         lead_->core().status().lost_workers > 0;
}

bool Cluster::crashes_in_snapshot() { return faulty() && random_.chance(life_.faults.snapshot_crash); }

bool Cluster::write_fails() {
  if (!faulty() || !random_.chance(life_.faults.write_failure)) {
    return false;
  }
  ++faults_seen_;
  facts_.note(Fact::snapshot_failed);
  return true;
}

bool Cluster::copy_fails(std::uint32_t shard) {
  const bool is_stuck = life_.faults.copy_stuck && shard == 1;
  if (!faulty() || !(is_stuck || random_.chance(life_.faults.copy_failure))) {
    return false;
  }
  ++faults_seen_;
  facts_.note(Fact::copy_failed);
  return true;
}

bool Cluster::takes_name(RunId run) {
  if (!copies_.is_taken(run) && faulty() && random_.chance(life_.faults.copies_taken)) {
    ++faults_seen_;
    copies_.take(run);
  }
  return copies_.is_taken(run);
}

void Cluster::dispatch(Event event) {
  if (event.process != kNobody) {
    auto& process = *processes_[event.process];
    if (!process.alive()) {
      return;
    }
    if (process.paused_until() > now_) {
      event.time = process.paused_until();
      return queue_.push(std::move(event));
    }
  }
  ++facts_.events;
  event.what();
}

void Cluster::schedule(Micros time, ProcessId process, std::function<void()> what) {
  queue_.push(Event{time, time, sequence_++, process, std::move(what)});
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
  if (to == kNobody) {
    return;
  }
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
  if (faulty() && !slow_links_.empty()) {
    const auto slow = slow_links_.find({from, to});
    time += slow == slow_links_.end() ? 0 : random_.between(0, slow->second);
  }
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

// ---- the end

bool Cluster::lead_died() const { return life_.lead_in_shard_0 && dead_shard_ == std::optional<std::uint32_t>(0); }

bool Cluster::is_over() {
  if (!lead_over_ && (lead_->ended() || (lead_died() && !lead_->alive()))) {
    lead_over_ = true;
    for (auto* lane : lanes_) {
      if (!lane->has_heard(lead_->id())) {
        lane->die();  // it waits for a lead to come up, as it should: any order of starts is allowed
      }
    }
    for (auto* lane : seconds_) {
      if (lane != nullptr) {
        lane->die();  // whoever does not belong to the job needs not learn of its end
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
      if (!worker->has_heard(lead_->id())) {
        worker->die();  // it knows of no job yet and goes on asking; nobody is left to answer
      }
    }
  }
  if (!lead_over_ || resume_scheduled_ ||
      std::any_of(processes_.begin() + static_cast<std::ptrdiff_t>(run_begins_), processes_.end(),
                  [](const auto& process) { return process->alive(); })) {
    return false;
  }
  restart_if_resumable();
  return !resume_scheduled_;
}

// The slowest worker may be the only one that the job is let have, for its data or its arithmetic.
Micros Cluster::work_of_one() const {
  Micros slot = 0;
  for (const auto& worker : life_.workers) {
    slot = std::max(slot, worker.forward + worker.backward);
  }
  return slot * static_cast<Micros>(life_.steps * life_.slots);
}

void Cluster::check_progress() const {
  const Micros enough = (life_.faults.clock_skew ? kEnoughSkewed : kEnough) + work_of_one();
  if (now_ <= calm_since_ + enough) {
    return;
  }
  std::string still;
  for (const auto& process : processes_) {
    still += process->alive() ? (still.empty() ? "" : ", ") + process->name() : "";
  }
  throw Violation("the life is not over " + std::to_string(enough / 1000) +
                  " ms after the last fault; the lead is in phase " + lead_->core().status().phase + " at step " +
                  std::to_string(lead_->core().status().step) + "; still there: " + still);
}

void Cluster::conclude() {
  const auto status = lead_->core().status();
  facts_.note(Fact::backup, status.backups > 0);
  facts_.note(Fact::lost_worker, status.lost_workers > 0);
  facts_.calm = faults_seen_ == 0;
  facts_.time = now_;
  facts_.add(judge_.facts());
  gather_items();
  facts_.note(Fact::mixed_arithmetic, ledger_.ledger.provenance.arithmetics.size() > 1);
  facts_.note(Fact::clipped, !life_.norms.empty() && (facts_.has(Fact::rollback) || facts_.has(Fact::lead_crash)));
  for (const auto& process : processes_) {
    if (const auto* lane = dynamic_cast<const LaneShell*>(process.get())) {
      lane->gather(facts_);
    }
  }
  for (const auto* worker : workers_) {
    facts_.note(Fact::retry, worker->core().retries() > 0);
  }
  if (dead_shard_) {
    facts_.note(Fact::death);
    // One that had written its part of the last snapshot before it died is not missed.
    if (!ledger_.ledger.finished) {
      return conclude_after_death();
    }
  }
  for (std::size_t i = run_begins_; i < processes_.size(); ++i) {
    const auto& process = processes_[i];
    if (process->failure().empty()) {
      continue;
    }
    const auto* worker = dynamic_cast<const WorkerShell*>(process.get());
    if (said_to_some_ || is_second(*process)) {
      continue;  // it left for what a lead had said that then crashed
    }
    if (worker != nullptr && worker->refused()) {
      continue;
    }
    if (worker == nullptr || !worker->excused()) {
      throw Violation(process->name() + " ends with: " + process->failure());
    }
    facts_.note(Fact::unheard_end);
  }
  judge_.finished_well(status, ledger_, facts_.has(Fact::copy_failed));
  for (std::uint32_t lane = 0; lane < life_.all_lanes(); ++lane) {
    require(!lanes_[lane]->ended() || disks_.present[lane / life_.lanes].finished == ledger_.ledger.finished,
            "a shard has left before the end was durable with it");
  }
}

void Cluster::gather_items() {
  facts_.note(Fact::skewed, life_.faults.clock_skew);
  const auto* items = judge_.items();
  if (items == nullptr) {
    return;
  }
  facts_.note(Fact::async, life_.items->bound == 0);
  facts_.note(Fact::ssp, !facts_.has(Fact::async));
  facts_.note(Fact::journaled, life_.journaled());
  facts_.note(Fact::kept_in_crash,
              facts_.has(Fact::journaled) && facts_.has(Fact::shard_crash) && ledger_.ledger.rollbacks == 0);
  facts_.note(Fact::survived_loss, facts_.has(Fact::lost_commits) && ledger_.ledger.rollbacks == 0);
}

void Cluster::conclude_after_death() const {
  if (!lead_died() && lead_->failure().find("shard " + std::to_string(*dead_shard_) + " ") == std::string::npos) {
    throw Violation("shard " + std::to_string(*dead_shard_) + " died, and the lead ends with: \"" + lead_->failure() +
                    "\"");
  }
  for (std::uint32_t lane = 0; lane < life_.all_lanes(); ++lane) {
    if (lane / life_.lanes != *dead_shard_ && lanes_[lane]->ended() && lanes_[lane]->failure().empty()) {
      throw Violation(lanes_[lane]->name() + " ends as if the job had finished");
    }
  }
}

}  // namespace ballast::simulation
