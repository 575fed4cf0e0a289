#include "server/lane_loop.h"

#include <cmath>
#include <utility>

#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"
#include "common/numeric/vector.h"

namespace ballast {

namespace {

constexpr Micros kTick = 50'000;
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

}  // namespace

LaneLoop::LaneLoop(zmq::context_t& context, const Job& job, LaneConfig config, const std::string& bind_address,
                   const std::string& advertised_host, const std::string& lead_address, ShardStore& store,
                   FinalWriter& final_writer, Metrics* metrics)
    : job_(job),
      router_(context),
      lead_(context, lane_routing_id(config.id, config.incarnation)),
      address_(advertised_address(router_.bind(bind_address), advertised_host)),
      config_(with_address(std::move(config), address_)),
      lane_(config_),
      weights_(job, ids_of(config_)),
      store_(store),
      final_writer_(final_writer),
      metrics_(metrics, config_.id) {
  lead_.connect(lead_address);
}

LaneLoop::~LaneLoop() = default;

void LaneLoop::close() {
  router_.close();
  lead_.close();
}

void LaneLoop::interrupt(std::string reason) { interrupts_.put(std::move(reason)); }

std::string LaneLoop::run() {
  set_log_prefix("lane " + std::to_string(config_.id.lane) + ": ");
  Poll poll;
  poll.add(router_);
  poll.add(lead_);
  poll.add(releases_.fd());
  poll.add(storage_events_.fd());
  poll.add(interrupts_.fd());
  while (!stopped_) {
    turn(poll);
  }
  return failure_;
}

void LaneLoop::turn(Poll& poll) {
  now_ = monotonic_micros();
  poll.wait(next_tick_ <= now_ ? 0 : static_cast<long>((next_tick_ - now_ + 999) / 1000));
  now_ = monotonic_micros();
  receive_from_workers();
  receive_from_lead();
  for (const auto& released : releases_.take()) {
    weights_.release(static_cast<ChunkId>(released.object), static_cast<VersionBuffer*>(released.buffer));
    feed(lane::RepliesReleased{released.owner, released.bytes});
  }
  for (const auto& event : storage_events_.take()) {
    feed(event);
  }
  for (auto& reason : interrupts_.take()) {
    stopped_ = true;
    failure_ = std::move(reason);
  }
  if (const auto tick = monotonic_micros(); tick >= next_tick_) {
    next_tick_ = tick + kTick;
    feed(lane::Tick{tick});
    metrics_.update(lane_, weights_);
  }
}

void LaneLoop::receive_from_workers() {
  for (int i = 0; i < kMessagesPerTurn && !stopped_; ++i) {
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
    auto decoded = decode(received->header.bytes(), payload_bytes, received->payload.has_value());
    if (const auto* refused = std::get_if<Refused>(&decoded)) {
      refuse(received->peer, *refused);
      continue;
    }
    const auto& message = std::get<Message>(decoded);
    PayloadId payload = kNoPayload;
    if (received->payload) {
      payload = next_payload_++;
      payloads_.emplace(payload, std::move(*received->payload));
    }
    metrics_.received(session->session, message, payload_bytes, now_);
    feed(lane::FromWorker{session->session, &message, payload, payload_bytes});
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
    feed(lane::FromLead{&std::get<Message>(decoded)});
  }
}

void LaneLoop::feed(const lane::Event& event) {
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
  auto& into = payloads_.at(action.join.into);
  const auto with = payloads_.extract(action.join.with);
  // Payloads lie where they please in their messages; the arithmetic takes any alignment.
  add_into(reinterpret_cast<float*>(into.data()), reinterpret_cast<const float*>(with.mapped().bytes().data()),
           into.size() / sizeof(float));
}

void LaneLoop::carry_out(lane::Drop& action) { payloads_.erase(action.payload); }

void LaneLoop::carry_out(lane::Apply& action) {
  const auto root = payloads_.extract(action.root);
  {
    const auto timer = metrics_.time_apply();
    weights_.apply(action.chunk, action.step,
                   {reinterpret_cast<const float*>(root.mapped().bytes().data()), root.mapped().size() / sizeof(float)},
                   action.factors);
  }
  if (action.statistics) {
    // Counts that no worker of ours sends are not passed on: they would make the whole report unreadable.
    const auto values = weights_.newest(action.chunk);
    const auto count = [](float value) { return std::isfinite(value) ? value : 0.0F; };
    events_.emplace_back(lane::StatisticsRead{{action.step, values[0], count(values[1]), count(values[2])}});
  }
}

void LaneLoop::carry_out(lane::Begin& action) {
  const auto status = store_.write_timeline({action.timeline, action.base, {config_.incarnation}});
  if (!status.ok()) {
    events_.emplace_back(lane::StorageFailed{status.text()});
    return;
  }
  weights_.initialize();
  log_info("serves timeline {} with {} chunks", action.timeline, weights_.chunks().size());
  events_.emplace_back(lane::Begun{action.timeline});
}

// In the background: a lane that waits for a disk answers nobody. Nothing writes the chunks any more.
void LaneLoop::carry_out(lane::PersistFinal& action) {
  persisting_ = std::jthread([this, action, seconds = metrics_.persist_seconds()] {
    const ScopedTimer timer(*seconds);
    std::vector<FinalWriter::ChunkContent> chunks;
    for (const auto id : weights_.chunks()) {
      if (id != job_.arena.statistics().id) {
        chunks.push_back({id, weights_.newest(id), weights_.momentum(id)});
      }
    }
    const auto status = final_writer_.write({action.timeline, action.step}, chunks);
    if (status.ok()) {
      storage_events_.put(lane::Persisted{action.timeline, action.step});
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
