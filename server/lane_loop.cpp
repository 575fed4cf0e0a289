#include "server/lane_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/job/load.h"
#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"
#include "common/numeric/vector.h"
#include "common/protocol/journal_marks.h"

namespace ballast {

namespace {

constexpr Micros kTick = 50'000;
constexpr Micros kCopyTelling = 500'000;
constexpr SessionId kNoSession = 0;  // the reader of a buffer is the disk
constexpr std::uint64_t kLoadWindow = 64U << 20U;
constexpr auto* kLeadQuestion =
    "is this where others reach the server of shard 0 (its --lead and --advertise), does that server run, and is its "
    "port open to this machine?";
constexpr int kMessagesPerTurn = 64;  // of one socket, so that no peer keeps the others waiting

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

std::span<const float> floats_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

LaneLoop::LaneLoop(zmq::context_t& context, const Job& job, LaneConfig config, const std::string& bind_address,
                   const std::string& advertised_host, const std::string& lead_address, ShardStorage& storage,
                   ShardJournal* journal, bool has_initial_snapshot, SnapshotCopier* copier, ShardTrouble shard_trouble,
                   Metrics* metrics)
    : job_(job),
      router_(context, {.buffer_bytes = static_cast<int>(job.spec.cluster.socket_buffer_bytes)}),
      lead_(context, lane_routing_id(config.id, config.incarnation)),
      address_(advertised_address(router_.bind(bind_address), advertised_host)),
      config_(with_address(std::move(config), address_)),
      lane_(config_),
      weights_(job, ids_of(config_)),
      storage_(storage),
      journal_(journal),
      load_window_(kLoadWindow),
      has_initial_snapshot_(has_initial_snapshot),
      copier_(config_.id.lane == 0 ? copier : nullptr),
      shard_trouble_(std::move(shard_trouble)),
      metrics_(metrics, config_.id, config_.lanes) {
  if (config_.id.shard > 0 && config_.id.lane == 0) {
    lead_reach_.emplace(lead_address, "server", kLeadQuestion);
    lead_.watch(context);
  }
  lead_.connect(lead_address);
  if (journal_ != nullptr) {
    journal_->listen(config_.id.lane, [this](lane::Committed committed) { storage_events_.put(committed); });
  }
}

LaneLoop::~LaneLoop() = default;

void LaneLoop::close() {
  router_.close();
  lead_.close();
}

void LaneLoop::interrupt(std::string reason) { interrupts_.put(std::move(reason)); }

std::string LaneLoop::run() {
  set_log_prefix("lane " + std::to_string(config_.id.lane) + ": ");
  if (lead_reach_) {
    lead_reach_->begin(monotonic_micros());
  }
  Poll poll;
  poll.add(router_);
  poll.add(lead_);
  poll.add(releases_.fd());
  poll.add(loaded_.fd());
  poll.add(storage_events_.fd());
  poll.add(interrupts_.fd());
  // However this ends: the storage thread must not wait for a lane that takes nothing any more.
  const std::unique_ptr<LoadWindow, void (*)(LoadWindow*)> closed_at_last(&load_window_,
                                                                          [](LoadWindow* window) { window->close(); });
  while (!stopped_) {
    turn(poll);
  }
  return failure_;
}

// Of what was taken on already, besides what may wait at the sockets.
bool LaneLoop::has_more() const {
  return lane_.has_more() || weights_.has_to_draw() || !to_load_.empty() || !storage_told_.empty();
}

void LaneLoop::turn(Poll& poll) {
  now_ = monotonic_micros();
  poll.wait(has_more() || next_tick_ <= now_ ? 0 : static_cast<long>((next_tick_ - now_ + 999) / 1000));
  now_ = monotonic_micros();
  turn_.begin(now_);
  if (lane_.has_more()) {
    feed(lane::GoOn{});
  }
  receive_from_workers();
  receive_from_lead();
  for (const auto& released : releases_.take()) {
    weights_.release(static_cast<ChunkId>(released.object), static_cast<ChunkBuffer*>(released.buffer));
    if (released.owner != kNoSession) {
      feed(lane::RepliesReleased{released.owner, released.bytes});
    }
  }
  take_from_storage();
  for (auto& reason : interrupts_.take()) {
    stopped_ = true;
    failure_ = std::move(reason);
  }
  const auto end = monotonic_micros();
  if (end >= next_tick_) {
    next_tick_ = end + kTick;
    if (auto trouble = shard_trouble_(); trouble != told_trouble_) {
      told_trouble_ = trouble;
      feed(lane::Trouble{std::move(trouble)});
    }
    tell_copy(end);
    tell_reach(end);
    feed(lane::Tick{end});
    metrics_.update(lane_, weights_);
    tell_held_lines();
    if (journal_ != nullptr && config_.id.lane == 0) {
      journal_->update_metrics();
    }
  }
  metrics_.turn(monotonic_micros() - now_);
}

// A lead that is there may have nothing to say to a shard before all the others are there as well.
void LaneLoop::tell_reach(Micros now) {
  if (!lead_reach_) {
    return;
  }
  if (lead_.is_connected()) {
    lead_reach_->heard(now);
  }
  lead_reach_->tick(now);
}

// At once what changes something, and now and then how far it is.
void LaneLoop::tell_copy(Micros now) {
  if (copier_ == nullptr) {
    return;
  }
  const auto progress = copier_->progress();
  auto told = told_copy_;
  told.bytes = progress.bytes;
  if (progress == told_copy_ || (progress == told && now < next_copy_telling_)) {
    return;
  }
  told_copy_ = progress;
  next_copy_telling_ = now + kCopyTelling;
  feed(lane::Copying{progress});
}

void LaneLoop::receive_from_workers() {
  for (int i = 0; i < kMessagesPerTurn && !stopped_ && (i == 0 || !turn_.over()); ++i) {
    auto received = router_.receive();
    if (!received) {
      return;
    }
    const auto peer = parse_routing_id(received->peer);
    const auto* session = peer ? std::get_if<SessionPeer>(&*peer) : nullptr;
    if (session == nullptr || received->malformed) {
      refuse(received->peer, {RefusalCode::malformed,
                              session == nullptr ? "a lane talks to workers only, by their routing ids"
                                                 : "a message has one header frame and at most one payload frame"});
      continue;
    }
    const auto payload_bytes = received->payload ? received->payload->size() : 0;
    turn_.spend(payload_bytes);
    auto decoded = decode(received->header.bytes(), payload_bytes, received->payload.has_value());
    if (const auto* refused = std::get_if<Refused>(&decoded)) {
      refuse(received->peer, *refused);
      continue;
    }
    const auto& message = std::get<Message>(decoded);
    PayloadId payload = kNoPayload;
    if (received->payload) {
      payload = next_payload_++;
      payloads_.emplace(payload, std::make_shared<Frame>(std::move(*received->payload)));
    }
    metrics_.received(session->session, message, payload_bytes, now_);
    feed(lane::FromWorker{session->session, &message, payload, payload_bytes});
    if (const auto* hello = std::get_if<LaneHello>(&message); hello != nullptr && welcomed_ == session->session) {
      metrics_.welcomed(session->session, hello->name);
    }
  }
}

void LaneLoop::refuse(const std::string& peer, const Refused& refused) {
  metrics_.unreadable();
  log_warn("refused a message: {}", refused.text);
  router_.send(peer, encoder_.encode(refused));
}

void LaneLoop::receive_from_lead() {
  for (int i = 0; i < kMessagesPerTurn && !stopped_; ++i) {
    auto received = lead_.receive();
    if (!received) {
      return;
    }
    auto decoded = decode(received->header.bytes(), 0, received->payload.has_value());
    if (const auto* refused = std::get_if<Refused>(&decoded)) {
      metrics_.unreadable();
      log_warn("a message of the lead cannot be read: {}", refused->text);
      continue;
    }
    auto& message = std::get<Message>(decoded);
    if (auto* refused = std::get_if<Refused>(&message)) {
      refused->text += difference_from(refused->job);
    }
    note_refusal(message);
    feed(lane::FromLead{&message});
  }
}

// Told once, though the lane goes on asking.
void LaneLoop::note_refusal(const Message& message) {
  const auto* refused = std::get_if<Refused>(&message);
  const bool is_turned_away = refused != nullptr && refused->code == RefusalCode::not_taken;
  if (is_turned_away && refused->text != told_refusal_) {
    told_refusal_ = refused->text;
    log_warn("the lead does not take this server, which goes on asking: {}", refused->text);
  } else if (std::holds_alternative<Confirm>(message)) {
    told_refusal_.clear();
  }
}

// What the job of a lead that refuses this shard for its own differs in.
std::string LaneLoop::difference_from(const std::string& leads_job) const {
  return leads_job.empty()
             ? std::string()
             : ", which differs in " + differing_keys(leads_job, job_.yaml) + " (the lead's against this one)";
}

void LaneLoop::feed(const lane::Event& event) {
  if (const auto* begun = std::get_if<lane::Begun>(&event); begun != nullptr) {
    strike(ServerFault::before_serve);
    log_info("serves timeline {} from step {} with {} chunks", begun->timeline, beginning_.step,
             weights_.chunks().size());
  } else if (const auto* resumed = std::get_if<lane::Resumed>(&event); resumed != nullptr) {
    log_info("goes on with timeline {}: the snapshot of step {} and {} updates from the journal", resumed->timeline,
             resumed->from, resumed->updates.size());
  }
  auto actions = lane_.step(event);
  for (auto& action : actions) {
    std::visit([this](auto& body) { carry_out(body); }, action);
  }
  while (!events_.empty()) {
    const auto next = events_.front();
    events_.pop_front();
    feed(next);
  }
}

void LaneLoop::carry_out(lane::SendToWorker& action) {
  if (std::holds_alternative<LaneWelcome>(action.message)) {
    welcomed_ = action.session;
  }
  router_.send(session_routing_id(action.session), encoder_.encode(action.message));
}

void LaneLoop::carry_out(lane::SendWeights& action) {
  auto* buffer = weights_.read(action.header.chunk, action.header.version);
  metrics_.sent_weights(action.bytes);
  const Released released{action.session, action.header.chunk, buffer, action.bytes};
  router_.send(session_routing_id(action.session), encoder_.encode(action.header),
               Borrowed{buffer->values.data(), action.bytes, released, &releases_});
}

void LaneLoop::carry_out(lane::SendToLead& action) {
  metrics_.sent_report();
  lead_.send({}, encoder_.encode(action.message));
}

void LaneLoop::carry_out(lane::Sum& action) {
  const auto timer = metrics_.time_sum();
  auto& into = *payloads_.at(action.join.into);
  const auto with = payloads_.extract(action.join.with);
  // Payloads lie where they please in their messages; the arithmetic takes any alignment.
  auto* const sums = reinterpret_cast<float*>(into.data());
  const auto* const addends = reinterpret_cast<const float*>(with.mapped()->bytes().data());
  const auto elements = into.size() / sizeof(float);
  if (!action.last) {
    add_into(sums, addends, elements);
  } else {
    finite_root_ = add_into_looking(sums, addends, elements).sum ? action.join.into : kNoPayload;
  }
}

void LaneLoop::carry_out(lane::Drop& action) { payloads_.erase(action.payload); }

void LaneLoop::carry_out(lane::Measure& action) {
  const auto& root = *payloads_.at(action.root);
  const bool known_finite = std::exchange(finite_root_, kNoPayload) == action.root;
  auto measured = weights_.measure(action.chunk, floats_of(root.bytes()), known_finite);
  events_.emplace_back(lane::Measured{
      {action.chunk, action.step, std::move(measured.sums), measured.finite, measured.parameter, kNoSlot}});
}

void LaneLoop::carry_out(lane::Apply& action) {
  const auto root = payloads_.extract(action.root);
  {
    const auto timer = metrics_.time_apply();
    weights_.apply(action.chunk, action.version, floats_of(root.mapped()->bytes()), action.factors);
  }
  if (action.statistics) {
    events_.emplace_back(lane::StatisticsRead{statistics(action.chunk, action.step)});
  }
}

StepStatistics LaneLoop::statistics(ChunkId chunk, Step step) const {
  // Counts that no worker of ours sends are not passed on: they would make the whole report unreadable.
  const auto values = weights_.newest(chunk);
  const auto count = [](float value) { return std::isfinite(value) ? value : 0.0F; };
  return {step, values[0], count(values[1]), count(values[2])};
}

void LaneLoop::carry_out(lane::Append& action) {
  journal_->append(config_.id.lane, lane_.timeline(), action, payloads_.at(action.payload));
}

// ---- storage: in the background, since a lane that waits for a disk answers nobody

std::vector<ShardStorage::ChunkShape> LaneLoop::chunk_shapes() const {
  std::vector<ShardStorage::ChunkShape> shapes;
  for (const auto id : weights_.chunks()) {
    if (id != job_.arena.statistics().id) {
      shapes.push_back({id, job_.arena.chunks[id].elements, weights_.state_count(id)});
    }
  }
  return shapes;
}

std::vector<ShardStorage::ChunkShape> LaneLoop::put_base(Timeline timeline, SnapshotId base) {
  beginning_ = {timeline, base.step};
  resumed_ = {};
  parts_.clear();
  if (base == SnapshotId{} && !has_initial_snapshot_) {
    weights_.begin_drawn();
    return {};
  }
  weights_.begin(version_at(base.step));
  return chunk_shapes();
}

void LaneLoop::carry_out(lane::Begin& action) {
  const auto shapes = put_base(action.timeline, action.base);
  const auto timeline = action.timeline;
  storage_.begin(
      timeline, action.base, shapes,
      [this, timeline](ShardStorage::LoadedChunk chunk) { return pass_on(timeline, std::move(chunk)); },
      [this, timeline](const StoreStatus& status) {
        if (status.ok()) {
          storage_events_.put(lane::Begun{timeline});
        } else {
          storage_events_.put(lane::StorageFailed{status.text()});
        }
      });
}

void LaneLoop::carry_out(lane::Resume& action) {
  const auto shapes = put_base(action.timeline, action.base);
  resumed_.timeline = action.timeline;
  resumed_.from = action.base.step;
  const auto timeline = action.timeline;
  storage_.resume(
      timeline, action.base, shapes,
      [this, timeline](ShardStorage::LoadedChunk chunk) { return pass_on(timeline, std::move(chunk)); },
      [this, timeline](const JournalRecord& record) { return pass_on(timeline, record); },
      [this, timeline](const StoreStatus& status) {
        if (status.ok()) {
          storage_events_.put(lane::Resumed{timeline, 0, {}, {}, journal_->committed()});
        } else {
          storage_events_.put(lane::StorageFailed{status.text()});
        }
      });
}

// On the storage thread, which so waits while the lane has much to put in place.
bool LaneLoop::pass_on(Timeline timeline, ShardStorage::LoadedChunk chunk) {
  const std::uint64_t bytes = chunk.tensors.weights.size() * sizeof(float) * (1 + chunk.tensors.states.size());
  if (!load_window_.take(bytes)) {
    return false;
  }
  loaded_.put({timeline, bytes, std::move(chunk)});
  return true;
}

// The same. Where a chunk lives does not change.
bool LaneLoop::pass_on(Timeline timeline, const JournalRecord& record) {
  const auto& ids = weights_.chunks();
  if (std::find(ids.begin(), ids.end(), record.chunk) == ids.end()) {
    return true;
  }
  const std::uint64_t bytes = record.payload.size();
  if (!load_window_.take(bytes)) {
    return false;
  }
  Replayed update{record, {record.payload.begin(), record.payload.end()}};
  update.record.payload = update.payload;  // which moves with it
  loaded_.put({timeline, bytes, std::move(update)});
  return true;
}

void LaneLoop::take_from_storage() {
  // The events first: what a Begun among them rests on has been put before it.
  for (auto& event : storage_events_.take()) {
    storage_told_.push_back(std::move(event));
  }
  for (auto& loaded : loaded_.take()) {
    to_load_.push_back(std::move(loaded));
  }
  for (bool first = true; !to_load_.empty() && (first || !turn_.over()); first = false) {
    take_loaded(to_load_.front());
    to_load_.pop_front();
  }
  for (bool first = true; weights_.has_to_draw() && (first || !turn_.over()); first = false) {
    turn_.spend(weights_.draw_next());
  }
  const bool is_in_place = to_load_.empty() && !weights_.has_to_draw();
  for (bool first = true; is_in_place && !storage_told_.empty() && (first || !turn_.over()); first = false) {
    on_storage(storage_told_.front());
    storage_told_.pop_front();
  }
}

void LaneLoop::on_storage(const lane::Event& event) {
  const auto* resumed = std::get_if<lane::Resumed>(&event);
  if (resumed == nullptr) {
    feed(event);
  } else if (resumed->timeline == beginning_.timeline) {
    resumed_.sequence = resumed->sequence;
    feed(std::exchange(resumed_, {}));
  }
}

void LaneLoop::take_loaded(Loaded& loaded) {
  if (loaded.timeline == beginning_.timeline) {
    std::visit([this](const auto& content) { take(content); }, loaded.content);
  }
  loaded.content = Replayed{};  // its memory is free before others take the room
  load_window_.give_back(loaded.bytes);
}

void LaneLoop::take(const ShardStorage::LoadedChunk& chunk) {
  turn_.spend(job_.arena.chunks[chunk.chunk].bytes() * (1 + chunk.tensors.states.size()));
  weights_.restore(chunk.chunk, version_at(beginning_.step), chunk.tensors.weights, chunk.tensors.states);
}

void LaneLoop::take(const Replayed& update) {
  const auto& record = update.record;
  const auto version = weights_.version(record.chunk);
  if (record.version < version_at(beginning_.step)) {
    return;  // the snapshot has it
  }
  if (record.version != version) {
    feed(lane::StorageFailed{"the journal has an update of version " + std::to_string(record.version) + " of chunk " +
                             std::to_string(record.chunk) + " where that of version " + std::to_string(version) +
                             " is due: it lacks what lies between. Remove the folder `journal` of this shard's "
                             "database, then resume: the job goes back to its newest snapshot"});
    return;
  }
  turn_.spend(record.payload.size());
  weights_.apply(record.chunk, record.version, floats_of(record.payload), record.factors);
  note_resumed(record);
}

void LaneLoop::note_resumed(const JournalRecord& record) {
  lane::Recovered recovered{record.chunk, record.item, {}};
  if (record.chunk == job_.arena.statistics().id && !record.factors.skip) {
    recovered.statistics = statistics(record.chunk, record.item / config_.slots);
  }
  resumed_.updates.push_back(recovered);
  for (const auto& base : record.bases) {
    note_mark(resumed_.marks, base);
  }
}

void LaneLoop::carry_out(lane::TakeSnapshot& action) {
  auto& part = parts_[action.id];
  if (!part) {
    part = std::make_shared<SnapshotPart>(SnapshotPart{action.id, now_, 0, {}});
  }
  // Nothing is copied: while these are read, an update takes other buffers for the weights, and copies the state.
  auto buffers = weights_.read_state(action.chunk);
  std::vector<std::span<const float>> states;
  for (const auto* buffer : buffers) {
    states.emplace_back(buffer->values);
  }
  buffers.push_back(weights_.read(action.chunk, version_at(action.id.step)));
  for (const auto* buffer : buffers) {
    part->bytes += buffer->values.size_bytes();
  }
  storage_.write_chunk(part, action.chunk, buffers.back()->values, states, [this, chunk = action.chunk, buffers] {
    for (auto* buffer : buffers) {
      releases_.put(Released{kNoSession, chunk, buffer, 0});
    }
  });
}

void LaneLoop::carry_out(lane::SealSnapshot& action) {
  if (journal_ != nullptr && config_.id.lane == 0) {
    journal_->rotate();  // so that what the snapshot makes needless is a segment by itself
  }
  auto found = parts_.extract(action.id);
  // A lane without chunks has taken nothing.
  const auto part =
      found ? std::move(found.mapped()) : std::make_shared<SnapshotPart>(SnapshotPart{action.id, now_, 0, {}});
  storage_.seal(part, [this, part](const StoreStatus& status) {
    const auto& series = metrics_.snapshots();  // which any thread may change
    if (status.ok()) {
      series.made_durable(part->id.step, part->bytes, monotonic_micros() - part->begun);
      storage_events_.put(lane::SnapshotDurable{part->id});
    } else {
      series.failed->add();
      log_warn("the snapshot of step {} could not be written: {}", part->id.step, status.text());
      storage_events_.put(lane::SnapshotFailed{part->id, status.text()});
    }
  });
}

void LaneLoop::carry_out(lane::Retain& action) {
  // One lane speaks for the shard: they share the database.
  if (config_.id.lane == 0) {
    storage_.retain(action.keep);
    if (journal_ != nullptr) {
      journal_->release_before(version_at(action.keep.back().step));
    }
  }
}

void LaneLoop::carry_out(lane::Copy& action) {
  if (copier_ != nullptr) {
    copier_->follow(action.copies);
  }
}

void LaneLoop::carry_out(lane::RecordFinish& action) {
  storage_.record_finish(action.end, [this](const StoreStatus& status) {
    if (status.ok()) {
      storage_events_.put(lane::FinishRecorded{});
    } else {
      storage_events_.put(lane::StorageFailed{status.text()});
    }
  });
}

void LaneLoop::carry_out(lane::Stop& action) {
  stopped_ = true;
  failure_ = action.failure;
}

}  // namespace ballast
