#include <algorithm>

#include "tests/simulation/shells.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

LaneConfig lane_config(const LifeSpec& life, std::uint32_t lane) {
  LaneConfig config;
  config.id = {lane / life.lanes, lane % life.lanes};
  config.shards = life.shards;
  config.lanes = life.lanes;
  config.incarnation = 1;
  config.slots = life.slots;
  config.steps = life.steps;
  for (ChunkId chunk = 0; chunk < life.chunks.size(); ++chunk) {
    if (life.chunks[chunk].lane == lane) {
      config.chunks.push_back({chunk, life.chunks[chunk].bytes, chunk == life.statistics()});
    }
  }
  config.spec_digest = "spec";
  config.layout_digest = "layout";
  config.address = "lane-" + number(lane);
  config.credit_bytes = life.credit_bytes;
  config.reply_window_bytes = life.reply_window_bytes;
  config.report_every = life.report_every;
  config.idle_report_every = life.idle_report_every;
  config.lead_silence = life.lead_silence;
  return config;
}

std::string lane_name(const LifeSpec& life, std::uint32_t lane) {
  return "lane " + number(lane / life.lanes) + "." + number(lane % life.lanes);
}

}  // namespace

LaneShell::LaneShell(Cluster& cluster, ProcessId id, std::uint32_t lane)
    : Process(cluster, id, lane_name(cluster.life(), lane)), lane_(lane), core_(lane_config(cluster.life(), lane)) {}

void LaneShell::tick() { step(lane::Tick{clock()}); }

void LaneShell::note_asked(ProcessId from, const Message& message) {
  if (const auto* pull = std::get_if<Pull>(&message)) {
    for (const auto chunk : pull->chunks) {
      cluster_.judge().asked(from, chunk, pull->version);
    }
  } else if (const auto* push = std::get_if<Push>(&message); push != nullptr && push->want_next) {
    cluster_.judge().asked(from, push->chunk, push->step + 1);
  }
}

void LaneShell::receive(ProcessId from, const Message& message, const std::optional<Payload>& payload) {
  if (from == kLead) {
    heard_lead_ = true;
    return step(lane::FromLead{&message});
  }
  note_asked(from, message);
  const auto* push = std::get_if<Push>(&message);
  if (push == nullptr) {
    return step(lane::FromWorker{from, &message, kNoPayload, 0});
  }
  const auto id = next_payload_++;
  held_[id] = {push->chunk, push->step, push->node, payload.value()};
  answers_ = 0;
  step(lane::FromWorker{from, &message, id, cluster_.life().chunks[push->chunk].bytes});
  require(answers_ == 1, "a push is not answered exactly once, at once");
}

void LaneShell::receive_strange(SessionId session, bool says_hello, const StrangeMessage& strange) {
  if (says_hello) {
    const Message hello = LaneHello{"stranger", "spec", "layout"};
    step(lane::FromWorker{session, &hello, kNoPayload, 0});
  }
  PayloadId id = kNoPayload;
  const auto held_before = held_.size();
  if (const auto* push = std::get_if<Push>(&strange.message)) {
    id = next_payload_++;
    held_[id] = {push->chunk, push->step, push->node, {}};
  }
  refusals_ = 0;
  step(lane::FromWorker{session, &strange.message, id, strange.payload_bytes});
  require(refusals_ == 1, "a lane does not refuse a stranger's message");
  require(held_.size() == held_before, "a lane keeps a stranger's payload");
}

void LaneShell::step(const lane::Event& event) {
  own_events_.push_back(event);
  while (!own_events_.empty()) {
    const auto next = own_events_.front();
    own_events_.pop_front();
    for (auto& action : core_.step(next)) {
      std::visit([this](auto& body) { act(body); }, action);
    }
  }
  cluster_.judge().lane_settled(held_, core_.held_payloads());
  require(core_.deferred_replies() <= core_.sessions() * chunks_.size(), "more deferred replies than can be");
}

HeldPayload LaneShell::take(PayloadId id) {
  const auto found = held_.find(id);
  if (found == held_.end()) {
    throw Violation(name() + ": payload " + number(id) + " is used after it was given up");
  }
  auto payload = found->second;
  held_.erase(found);
  return payload;
}

// ---- actions

void LaneShell::act(lane::SendToWorker& action) {
  if (action.session >= kFirstStranger) {
    refusals_ += std::holds_alternative<Refused>(action.message) || std::holds_alternative<Stale>(action.message);
    return;
  }
  auto& judge = cluster_.judge();
  if (const auto* receipt = std::get_if<Receipt>(&action.message)) {
    ++answers_;
    judge.receipt_sent(action.session, *receipt, held_);
  } else if (const auto* refused = std::get_if<Refused>(&action.message)) {
    ++answers_;
    judge.refused_by_lane(*refused);
  } else if (const auto* gone = std::get_if<Gone>(&action.message)) {
    judge.gone_sent(*gone);
  }
  cluster_.send(*this, static_cast<ProcessId>(action.session), std::move(action.message));
}

void LaneShell::act(lane::SendWeights& action) {
  auto& chunk = chunks_[action.header.chunk];
  const auto version = chunk.versions.find(action.header.version);
  if (version == chunk.versions.end()) {
    throw Violation(name() + " sends version " + number(action.header.version) + " of chunk " +
                    number(action.header.chunk) + ", which it does not hold");
  }
  const auto index = version->second;
  auto& buffer = chunk.buffers[index];
  ++buffer.references;
  cluster_.judge().weights_sent(action.session, lane_, action.header, action.bytes, buffer.value);
  cluster_.send(*this, static_cast<ProcessId>(action.session), action.header, Payload{buffer.value, 0});
  cluster_.later(*this, cluster_.some(cluster_.life().release_high),
                 [this, id = action.header.chunk, index, session = action.session, bytes = action.bytes] {
                   --chunks_[id].buffers[index].references;
                   cluster_.judge().replies_released(session, lane_, bytes);
                   step(lane::RepliesReleased{session, bytes});
                 });
}

void LaneShell::act(lane::SendToLead& action) { cluster_.send(*this, kLead, std::move(action.message)); }

void LaneShell::act(lane::Sum& action) {
  const auto left = take(action.join.into);
  const auto right = take(action.join.with);
  if (left.chunk != action.chunk || right.chunk != action.chunk || left.step != right.step) {
    throw Violation(name() + " sums payloads of different chunks or steps");
  }
  // Neighbours, the lower slots on the left; the judge sees the rest in the value.
  const Node node{std::min(left.node.begin, right.node.begin), std::max(left.node.end, right.node.end)};
  held_[action.join.into] = {left.chunk, left.step, node, sum(left.payload, right.payload)};
}

void LaneShell::act(lane::Drop& action) { take(action.payload); }

// The older version's buffer if no reply references it, else any free one, else a new one.
std::size_t LaneShell::free_buffer(Chunk& chunk) {
  for (std::size_t i = 0; i < chunk.buffers.size(); ++i) {
    const bool in_use = std::any_of(chunk.versions.begin(), chunk.versions.end(),
                                    [&](const auto& version) { return version.second == i; });
    if (!in_use && chunk.buffers[i].references == 0) {
      return i;
    }
  }
  chunk.buffers.emplace_back();
  return chunk.buffers.size() - 1;
}

void LaneShell::act(lane::Apply& action) {
  auto& chunk = chunks_[action.chunk];
  const auto root = take(action.root);
  require(root.chunk == action.chunk && root.step == action.step, "the root of another chunk or step is applied");
  chunk.value = apply(chunk.value, root.payload, action.factors);
  cluster_.judge().applied(action.chunk, action.statistics, action.step, root, action.factors, chunk.value.weights);
  if (action.step > 0) {
    chunk.versions.erase(action.step - 1);
  }
  const auto buffer = free_buffer(chunk);
  chunk.buffers[buffer].value = chunk.value.weights;
  chunk.versions[action.step + 1] = buffer;
  if (action.statistics) {
    own_events_.push_back(lane::StatisticsRead{statistics(action.step, root.payload.value)});
  }
  if (cluster_.traces()) {
    cluster_.say(name() + " applies step " + number(action.step) + " to chunk " + number(action.chunk));
  }
}

void LaneShell::act(lane::Begin& action) {
  require(action.timeline == 1 && action.base == 0, "a timeline that nobody asked for");
  for (ChunkId id = 0; id < cluster_.life().chunks.size(); ++id) {
    if (cluster_.life().chunks[id].lane == lane_) {
      auto& chunk = chunks_[id];
      chunk.value = initial(id);
      chunk.buffers = {{chunk.value.weights, 0}};
      chunk.versions = {{0, 0}};
    }
  }
  cluster_.later(*this, cluster_.some(cluster_.life().storage_high),
                 [this, timeline = action.timeline] { step(lane::Begun{timeline}); });
}

void LaneShell::act(lane::PersistFinal& action) {
  cluster_.later(*this, cluster_.some(cluster_.life().storage_high), [this, action] {
    cluster_.judge().persisted(lane_, action.step);
    step(lane::Persisted{action.timeline, action.step});
  });
}

void LaneShell::act(lane::Stop& action) { end(action.failure); }

void LaneShell::gather(LifeFacts& facts) const {
  const auto& counters = core_.counters();
  facts.superseded = facts.superseded || counters.superseded > 0;
  facts.gone = facts.gone || counters.gone > 0;
  facts.served_older = facts.served_older || counters.served_older > 0;
  facts.deferred = facts.deferred || counters.deferred > 0;
  facts.duplicate = facts.duplicate || counters.duplicates > 0;
  facts.waited_for_factors = facts.waited_for_factors || counters.waited_for_factors > 0;
}

}  // namespace ballast::simulation
