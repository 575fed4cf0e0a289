#include "server/lane_loop.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "common/job/steps.h"
#include "common/log/log.h"
#include "common/machine/machine_id.h"
#include "common/net/clock.h"
#include "server/fault.h"

namespace ballast {

namespace {

constexpr Micros kLaneTick = 20'000;
constexpr int kLaneMessagesPerTurn = 64;  // of one socket, so that no peer keeps the others waiting

LaneConfig with_address(LaneConfig config, const std::string& address) {
  config.address = address;
  return config;
}

std::vector<ChunkId> ids_of(const LaneConfig& config) {
  std::vector<ChunkId> ids;
  for (const auto& chunk : config.chunks) {
    ids.push_back(chunk.id);
  }
  return ids;
}

// One lane of each shard speaks for it, and that of the lead's own shard has no way to lose the lead.
bool watches_lead(LaneId id) { return id.shard > 0 && id.lane == 0; }

}  // namespace

LaneLoop::LaneLoop(zmq::context_t& context, const ServerKeys& keys, const Job& job, LaneConfig config,
                   const Addresses& addresses, ShardServices services, Metrics* metrics, SocketKeeping keeping,
                   Lateness* lateness)
    : shard_trouble_(services.trouble),
      left_(services.left),
      workers_(context, job.spec.cluster.socket_buffer_bytes, addresses.bind, addresses.advertised_host, keys,
               keeping.intake(keys)),
      lead_(context, config.id, config.incarnation, addresses.lead, watches_lead(config.id), job.yaml, keys.own()),
      lane_(with_address(config, workers_.address())),
      weights_(job, ids_of(config)),
      storage_(job, std::move(services), config.id.lane, ids_of(config), config.memory_bytes),
      metrics_(metrics, config.id, storage_.tallies()),
      lateness_(lateness),
      trace_(config.lanes, updates_per_step(job.spec.training), ids_of(config),
             {bytes_of_mbit(job.spec.cluster.link_mbit), machine_id()}),
      handshakes_(metrics, "lane " + std::to_string(config.id.lane)),
      ticks_(kLaneTick),
      lead_patience_(addresses.lead_patience),
      keeping_(std::move(keeping)),
      memory_bytes_(config.memory_bytes),
      each_slot_is_update_(is_item_mode(job.spec.training.mode)) {}

void LaneLoop::close() {
  workers_.close();
  lead_.close();
}

std::string LaneLoop::run() {
  set_log_prefix("lane " + std::to_string(storage_.lane()) + ": ");
  lead_.begin(monotonic_micros());
  auto poll = watched();
  // However this ends: the storage thread must not wait for a lane that takes nothing any more, and what nobody reads
  // must not be taken in.
  const std::unique_ptr<LaneLoop, void (*)(LaneLoop*)> closed_at_last(this, [](LaneLoop* loop) {
    loop->storage_.close();
    loop->workers_.close();
    if (loop->keeping_.memory) {
      loop->keeping_.memory->end();
    }
  });
  while (!ending_) {
    turn(poll);
    if (std::exchange(is_renewed_, false)) {
      poll = watched();
    }
  }
  return *ending_;
}

Poll LaneLoop::watched() {
  Poll poll;
  workers_.add_to(poll);
  lead_.add_to(poll);
  poll.add(releases_.fd());
  storage_.add_to(poll);
  poll.add(interrupts_.fd());
  poll.add(departures_.fd());
  return poll;
}

// Of what was taken on already, besides what may wait at the sockets.
bool LaneLoop::has_more() const { return lane_.has_more() || storage_.has_more(weights_); }

void LaneLoop::turn(Poll& poll) {
  releases_.be_quiet(!lane_.waits_for_release());
  auto& stages = metrics_.stages();
  stages.enter(LaneStage::waiting, monotonic_micros());
  poll.wait(has_more() ? 0 : ticks_.until(monotonic_micros()));
  turn_.begin(monotonic_micros());
  stages.enter(LaneStage::other, turn_.began());
  trace_.turn(turn_.began());
  take_released();
  if (lane_.has_more()) {
    feed(lane::GoOn{});
  }
  receive_from_workers();
  receive_from_lead();
  take_from_storage();
  if (!departures_.take().empty()) {
    feed(lane::Depart{});
  }
  for (auto& reason : interrupts_.take()) {
    ending_ = std::move(reason);
  }
  if (const auto now = monotonic_micros(); ticks_.take(now)) {
    tick(now);
  }
  const auto now = monotonic_micros();
  metrics_.turn(now - turn_.began());
  trace_.worked(lane_.open_step(), now - turn_.began(), now);
}

void LaneLoop::tick(Micros now) {
  if (const auto trouble = news_.trouble(shard_trouble_())) {
    feed(*trouble);
  }
  if (const auto copied = storage_.copied()) {
    if (const auto copying = news_.copying(*copied, now)) {
      feed(*copying);
    }
  }
  lead_.tick(now);
  look_at_the_lead();
  if (workers_.tick(now)) {
    cut_all();
  }
  take_ended();
  feed(lane::Tick{now, workers_.read_up_at()});
  metrics_.update(lane_, weights_, {now, workers_.read_up_at(), payloads_.bytes()});
  handshakes_.take(workers_.callers());
  tell_held_lines();
  storage_.update_metrics();
  look_at_memory(now);
  look_at_links(now);
}

// A lane that keeps up has nothing of its workers' in the transport. One that does not may have all it has called.
void LaneLoop::look_at_memory(Micros now) {
  constexpr Micros kKeepsUp = 1'000'000;
  if (!keeping_.memory) {
    return;
  }
  const auto waiting = now - workers_.read_up_at() < kKeepsUp ? 0 : memory_bytes_;
  const auto held = weights_.bytes() + payloads_.bytes() + workers_.unsent_bytes() + storage_.unplaced_bytes();
  keeping_.memory->tell(held, waiting, waiting);
  if (keeping_.memory->takes_order()) {
    cut_all();
  }
}

void LaneLoop::look_at_links(Micros now) {
  if (!trace_.wants_links(now)) {
    return;
  }
  trace_.line(lane_.open_step(), now);
  for (const auto& [session, socket] : workers_.sockets()) {
    if (const auto info = link_info(socket)) {
      trace_.link(lane_.open_step(), session, *info, now);
    }
  }
}

void LaneLoop::cut_all() {
  log_warn("cuts all who are connected to it: {}", workers_.renew());
  if (keeping_.guard) {
    keeping_.guard(workers_.gate());
  }
  is_renewed_ = true;
}

// A server that is started again when its job is over would look for the lead for ever.
void LaneLoop::look_at_the_lead() {
  if (lead_patience_ > 0 && lead_.silence() >= lead_patience_ && !ending_) {
    has_lost_the_lead_ = true;
    ending_ = "no lead was there for " + std::to_string(lead_patience_ / 1'000'000) + " s (--lead-patience)";
  }
}

void LaneLoop::receive_from_workers() {
  const WithinStage reading(metrics_.stages(), LaneStage::reading);
  for (int i = 0; i < kLaneMessagesPerTurn && !ending_ && (i == 0 || !turn_.over()); ++i) {
    auto received = workers_.receive(turn_);
    if (!received) {
      break;
    }
    if (auto* incoming = std::get_if<WorkerConnections::Incoming>(&*received)) {
      receive(*incoming);
    } else {
      metrics_.unreadable_of_worker(std::get<WorkerConnections::Unreadable>(*received).why);
    }
  }
  take_ended();
}

// All that came over them was fed before.
void LaneLoop::take_ended() {
  for (const auto& ended : workers_.take_ended()) {
    feed(lane::ConnectionEnded{ended.session, ended.connection});
  }
}

void LaneLoop::receive(WorkerConnections::Incoming& incoming) {
  const auto bytes = incoming.payload_bytes();
  const auto payload = incoming.payload ? payloads_.add(std::move(*incoming.payload), incoming.session) : kNoPayload;
  metrics_.received(incoming.session, incoming.message, bytes);
  const auto taken = lane_.taken();
  const auto read_at = monotonic_micros();
  if (const auto* push = std::get_if<Push>(&incoming.message)) {
    trace_.reads(*push, read_at);
  }
  feed(lane::FromWorker{incoming.session, &incoming.message, payload, bytes, incoming.connection, incoming.payer});
  if (const auto* push = std::get_if<Push>(&incoming.message); push != nullptr && lane_.taken() > taken) {
    metrics_.contributed(incoming.session, *push, turn_.began());
    if (lateness_ != nullptr) {
      lateness_->contributed(incoming.session, push->timeline, push->step, read_at);
    }
    trace_.contributed(incoming.session, *push, incoming.sent, read_at);
  }
  metrics_.judged();
}

void LaneLoop::receive_from_lead() {
  for (int i = 0; i < kLaneMessagesPerTurn && !ending_; ++i) {
    const auto received = lead_.receive();
    if (!received) {
      break;
    }
    if (const auto* message = std::get_if<Message>(&*received)) {
      if (const auto* plan = std::get_if<Plan>(message)) {
        tell_barred(plan->barred);
      }
      if (const auto* asked = std::get_if<TraceAsked>(message)) {
        answer(*asked);
      } else {
        feed(lane::FromLead{message});
      }
    } else {
      metrics_.unreadable();
    }
  }
  if (auto why = lead_.hopeless(); why && !ending_) {
    ending_ = std::move(why);
    is_hopeless_ = true;
  }
}

void LaneLoop::answer(const TraceAsked& asked) {
  auto part = trace_.part(asked);
  part.clock = lead_.clock(monotonic_micros());
  lead_.send(part);
}

// The lead may never have heard of such a session, and can't say whose key it has.
void LaneLoop::tell_barred(const std::vector<SessionId>& barred) {
  for (const auto session : barred) {
    if (std::ranges::find(barred_, session) == barred_.end()) {
      const auto key = workers_.key_of(session);
      log_warn("takes no contributions of session {} any more, as the lead says{}", session,
               key.empty() ? "" : "; its key is " + key);
    }
  }
  barred_ = barred;
}

void LaneLoop::take_released() {
  for (const auto& released : releases_.take()) {
    weights_.release(static_cast<ChunkId>(released.object), static_cast<ChunkBuffer*>(released.buffer));
    if (released.owner != LaneStorage::kReader) {
      trace_.taken(released.owner, released.at);
      feed(lane::ReplyReleased{released.owner});
    }
  }
}

void LaneLoop::take_from_storage() {
  const WithinStage storing(metrics_.stages(), LaneStage::storing);
  if (const auto failed = storage_.load(weights_, turn_)) {
    feed(*failed);
  }
  for (bool first = true; first || !turn_.over(); first = false) {
    const auto event = storage_.next_event(weights_);
    if (!event) {
      return;
    }
    trace_.done(*event, monotonic_micros(), storage_.journal_disk());
    feed(*event);
  }
}

void LaneLoop::tell(const lane::Event& event) const {
  if (const auto* begun = std::get_if<lane::Begun>(&event); begun != nullptr) {
    log_info("serves timeline {} from step {} with {} chunks", begun->timeline, storage_.base(),
             weights_.chunks().size());
  } else if (const auto* resumed = std::get_if<lane::Resumed>(&event); resumed != nullptr) {
    log_info("goes on with timeline {}: the snapshot of step {} and {} updates from the journal", resumed->timeline,
             resumed->from, resumed->updates.size());
  }
}

void LaneLoop::feed(const lane::Event& event) {
  if (std::holds_alternative<lane::Begun>(event)) {
    strike(ServerFault::before_serve);
  }
  tell(event);
  auto actions = lane_.step(event);
  for (auto& action : actions) {
    const WithinStage within(metrics_.stages(), stage_of(action));
    std::visit([this](auto& body) { carry_out(body); }, action);
  }
  while (!events_.empty()) {
    const auto next = events_.front();
    events_.pop_front();
    feed(next);
  }
}

void LaneLoop::carry_out(lane::SendToWorker& action) {
  metrics_.sent(action.session, action.message);
  workers_.send(action.session, action.message);
}

void LaneLoop::carry_out(lane::SendWeights& action) {
  const auto& header = action.header;
  auto* buffer = header.averages ? weights_.read_average(header.chunk) : weights_.read(header.chunk, header.version);
  metrics_.sent_weights(action.bytes);
  const Released released{action.reply, action.header.chunk, buffer, action.bytes};
  trace_.replied(action, monotonic_micros());
  workers_.send(action.session, action.connection, action.header,
                Borrowed{buffer->values.data(), action.bytes, released, &releases_});
}

void LaneLoop::carry_out(lane::SendToLead& action) {
  metrics_.sent_report();
  lead_.send(action.message);
}

void LaneLoop::carry_out(lane::DropConnection& action) { workers_.drop(action.session, action.connection); }

void LaneLoop::carry_out(lane::Sum& action) {
  const auto timer = metrics_.time_sum();
  payloads_.sum(action.join.into, action.join.with, action.last);
  trace_.summed(action.chunk, monotonic_micros());
}

void LaneLoop::carry_out(lane::Drop& action) { payloads_.drop(action.payload); }

void LaneLoop::carry_out(lane::Measure& action) {
  auto measured = weights_.measure(action.chunk, payloads_.values(action.root), payloads_.is_known_finite(action.root),
                                   action.prospect);
  events_.emplace_back(lane::Measured{
      {action.chunk, action.step, std::move(measured.sums), measured.finite, measured.parameter, kNoSlot},
      action.root});
}

void LaneLoop::carry_out(lane::Apply& action) {
  const auto begun = monotonic_micros();
  {
    const auto timer = metrics_.time_apply();
    weights_.apply(action.chunk, action.version, payloads_.values(action.root), action.factors,
                   {action.step, action.slot, action.staleness});
  }
  trace_.applied(action, begun, monotonic_micros());
  if (each_slot_is_update_) {
    metrics_.applied(payloads_.sender(action.root), action.staleness);
  }
  payloads_.drop(action.root);
  if (action.statistics) {
    events_.emplace_back(lane::StatisticsRead{weights_.statistics(action.chunk, action.step), action.timeline});
  }
}

void LaneLoop::carry_out(lane::Append& action) {
  trace_.appended(action, monotonic_micros(), storage_.journal_disk());
  storage_.append(lane_.timeline(), action, payloads_.share(action.payload));
}

void LaneLoop::carry_out(lane::Begin& action) { storage_.begin(action, weights_); }

void LaneLoop::carry_out(lane::SyncJournal& action) { storage_.sync(action); }

void LaneLoop::carry_out(lane::Resume& action) { storage_.resume(action, weights_); }

void LaneLoop::carry_out(lane::TakeSnapshot& action) {
  trace_.took(action, monotonic_micros());
  storage_.take_snapshot(action, weights_, releases_, turn_.began());
}

void LaneLoop::carry_out(lane::SealSnapshot& action) {
  storage_.seal_snapshot(action, metrics_.snapshots(), turn_.began());
}

void LaneLoop::carry_out(lane::Retain& action) { storage_.retain(action); }

void LaneLoop::carry_out(lane::Copy& action) { storage_.copy(action); }

void LaneLoop::carry_out(lane::RecordFinish& action) { storage_.record_finish(action); }

void LaneLoop::carry_out(lane::Stop& action) { ending_ = action.failure; }

void LaneLoop::carry_out(lane::Leave& action) {
  ending_ = action.lost;
  left_(action);
}

}  // namespace ballast
