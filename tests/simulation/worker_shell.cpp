#include "tests/simulation/worker_shell.h"

#include <algorithm>
#include <tuple>

#include "common/protocol/tree.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

WorkerConfig worker_config(const LifeSpec& life, const std::string& name) {
  WorkerConfig config;
  config.name = name;
  config.heartbeat_every = life.heartbeat_every;
  config.hello_every = life.hello_every;
  config.lead_silence = life.lead_silence;
  config.retry = life.retry;
  return config;
}

}  // namespace

WorkerShell::WorkerShell(World& world, ProcessId id, std::string name, LifeWorker speed)
    : Process(id, std::move(name)),
      speed_(std::move(speed)),
      core_(worker_config(world.life, this->name())),
      weights_(world.life.chunks.size()),
      lanes_(world.life.all_lanes(), kNobody) {
  world.judge.worker_starts(id, this->name(), speed_);
}

void WorkerShell::tick(Host& host, Micros clock) { step(host, worker::Tick{clock}); }

void WorkerShell::carry_out(Host& host, const WorkerPending& what) {
  std::visit([&](const auto& each) { done(host, each); }, what);
}

void WorkerShell::receive(Host& host, ProcessId from, const Message& message, const std::optional<Payload>& payload) {
  if (host.is_lead(from)) {
    heard_ = from;
    if (const auto* welcome = std::get_if<WorkerWelcome>(&message)) {
      newest_timeline_ = std::max(newest_timeline_, welcome->timeline);
    } else if (const auto* assign = std::get_if<Assign>(&message)) {
      take_grants(*assign);
    }
    return step(host, worker::FromLead{&message});
  }
  const auto lane = std::find(lanes_.begin(), lanes_.end(), from);
  if (lane == lanes_.end()) {
    return;  // from a connection that was given up
  }
  PayloadId id = kNoPayload;
  if (const auto* receipt = std::get_if<Receipt>(&message)) {
    note_receipt(*receipt);
  } else if (const auto* stale = std::get_if<Stale>(&message)) {
    newest_timeline_ = std::max(newest_timeline_, stale->timeline);
  } else if (const auto* weights = std::get_if<Weights>(&message)) {
    id = next_payload_++;
    kept_[id] = {false, weights->chunk, weights->version, {}, payload.value(), 0, 0, false, false, *weights};
    auto& newest = newest_seen_[{weights->timeline, weights->chunk}];
    newest = std::max(newest, weights->version);
  }
  step(host, worker::FromLane{static_cast<std::uint32_t>(lane - lanes_.begin()), &message, id});
}

void WorkerShell::note_receipt(const Receipt& receipt) {
  for (auto& [id, kept] : kept_) {
    if (kept.is_gradient && kept.payload.timeline == receipt.timeline && kept.chunk == receipt.chunk &&
        kept.step == receipt.step && kept.node == receipt.node) {
      kept.receipted = true;
    }
  }
}

void WorkerShell::step(Host& host, const worker::Event& event) {
  auto actions = core_.step(event);
  if (std::holds_alternative<worker::Prepared>(event) || std::holds_alternative<worker::Computed>(event) ||
      std::holds_alternative<worker::Evaluated>(event)) {
    state_.move(host.facts().worker, WorkerState::ready);
  }
  for (auto& action : actions) {
    std::visit([&](auto& body) { act(host, body); }, action);
  }
  if (alive()) {
    check_kept();
  }
}

// ---- what the judge sees of a worker

void WorkerShell::check_kept() const {
  std::size_t gradients = 0;
  for (const auto& [id, kept] : kept_) {
    gradients += kept.is_gradient ? 1 : 0;
    if (kept.is_gradient && kept.receipted) {
      throw Violation(name() + " keeps a gradient that has its receipt");
    }
    if (!kept.is_gradient && !computation_.runs) {
      throw Violation(name() + " keeps weights of chunk " + std::to_string(kept.chunk) + " that nobody will look at");
    }
  }
  if (gradients != core_.outstanding()) {
    throw Violation(name() + " keeps " + std::to_string(gradients) + " gradients, its core knows of " +
                    std::to_string(core_.outstanding()) + ": a payload leaked");
  }
}

void WorkerShell::check_retries(const LifeSpec& life, Micros now, Micros stood_until, double rate) const {
  const auto longest = static_cast<Micros>(static_cast<double>(life.retry.ceiling) / rate) + 1;
  for (const auto& [id, kept] : kept_) {
    if (!kept.is_gradient || kept.sent == 0) {
      continue;
    }
    const auto since = std::max(kept.sent_at, stood_until);
    if (now - since > longest * std::min(kept.sent, 8U) + 3 * life.tick) {
      throw Violation(name() + " has no receipt for step " + std::to_string(kept.step) + " chunk " +
                      std::to_string(kept.chunk) + " slots " + words(kept.node) + " and does not send it again");
    }
  }
}

bool WorkerShell::is_oldest(Host& host, const Kept& gradient) const {
  const auto& chunks = host.life().chunks;
  const auto age = [](const Kept& kept) { return std::tuple(kept.step, kept.chunk, kept.node); };
  return std::none_of(kept_.begin(), kept_.end(), [&](const auto& entry) {
    const auto& other = entry.second;
    return other.is_gradient && chunks[other.chunk].lane == chunks[gradient.chunk].lane && age(other) < age(gradient);
  });
}

// What was sent to a lane and is still kept lies within the credit, but for what was the oldest.
void WorkerShell::check_credit(Host& host, std::uint32_t lane) const {
  const auto& life = host.life();
  std::uint64_t bytes = 0;
  for (const auto& [id, kept] : kept_) {
    if (kept.is_gradient && kept.sent > 0 && !kept.was_oldest && life.chunks[kept.chunk].lane == lane) {
      bytes += life.chunks[kept.chunk].bytes;
    }
  }
  if (bytes > life.credit_bytes) {
    throw Violation(name() + " has " + std::to_string(bytes) + " bytes on their way within a credit of " +
                    std::to_string(life.credit_bytes));
  }
}

Expression WorkerShell::weights() const {
  std::vector<Expression> values;
  for (const auto& chunk : weights_) {
    require(chunk.payload.timeline == weights_.front().payload.timeline, "weights of two timelines are computed from");
    values.push_back(chunk.payload.value);
  }
  return all_weights(values);
}

// ---- actions

void WorkerShell::act(Host& host, worker::SendToLead& action) {
  if (const auto* beat = std::get_if<Heartbeat>(&action.message)) {
    require(beat->order >= order_, "a worker follows an older order again");
    order_ = beat->order;
    check_brought(host, *beat);
  }
  host.send(*this, host.lead_id(), std::move(action.message));
}

void WorkerShell::act(Host& host, worker::SendToLane& action) {
  if (const auto* pushed = std::get_if<Push>(&action.message)) {
    return push(host, action.lane, *pushed, action.payload);
  }
  if (const auto* pull = std::get_if<Pull>(&action.message)) {
    check_pull(*pull);
  }
  require(action.payload == kNoPayload, "a message other than a push carries a payload");
  host.send(*this, lanes_.at(action.lane), std::move(action.message));
}

void WorkerShell::push(Host& host, std::uint32_t lane, const Push& push, PayloadId id) {
  const auto found = kept_.find(id);
  if (found == kept_.end() || !found->second.is_gradient) {
    throw Violation(name() + " sends a gradient that it has given up");
  }
  auto& kept = found->second;
  if (kept.chunk != push.chunk || kept.step != push.step || kept.node != push.node ||
      kept.payload.timeline != push.timeline || kept.payload.fault != push.fault) {
    throw Violation(name() + " sends a gradient under another name");
  }
  kept.was_oldest = kept.sent == 0 ? is_oldest(host, kept) : kept.was_oldest;
  ++kept.sent;
  kept.sent_at = host.now();
  check_credit(host, lane);
  host.send(*this, lanes_.at(lane), push, kept.payload);
}

// ---- items

void WorkerShell::leave(Host& host) {
  host.say(name() + " is told to leave");
  excused_ = true;
  step(host, worker::Failed{"it was told to leave"});
}

void WorkerShell::take_grants(const Assign& assign) {
  for (const auto& grant : assign.grants) {
    grants_.items[grant.clock] = grant.item;
  }
}

// Weights to compute an item from are asked for after the item was granted.
void WorkerShell::check_pull(const Pull& pull) const {
  if (pull.version == kNewestVersion) {
    require(grants_.items.contains(pull.ticket), "weights are asked for before the item they are for is granted");
  }
}

// A grant is called brought when every receipt of the item has arrived.
void WorkerShell::check_brought(Host& host, const Heartbeat& beat) const {
  const auto slots = host.life().slots;
  for (const auto clock : beat.brought) {
    require(grants_.computed.contains(clock), "a grant is called brought that was never computed");
    const auto item = grants_.items.at(clock);
    for (const auto& [id, kept] : kept_) {
      require(!kept.is_gradient || kept.step * slots + kept.node.begin != item,
              "a grant is called brought, and a receipt of it is missing");
    }
  }
}

std::uint32_t WorkerShell::origin_of(Host& host, ItemId item) {
  std::vector<ItemBase> bases;
  for (ChunkId chunk = 0; chunk < weights_.size(); ++chunk) {
    const auto& header = weights_[chunk].header;
    bases.push_back({header.version,
                     weights_[chunk].payload.value,
                     header.ticket,
                     {host.life().chunks[chunk].lane / host.life().lanes, header.incarnation, header.sequence}});
  }
  const auto clock = weights_.front().header.ticket;
  const auto grant = grants_.items.find(clock);
  require(grant != grants_.items.end(), "an item is computed that was not granted");
  grants_.computed.insert(clock);
  return host.judge().items().computes(item, {grant->second, clock}, std::move(bases));
}

// ---- actions of the computation

void WorkerShell::act(Host& host, worker::Prepare& /*action*/) {
  state_.move(host.facts().worker, WorkerState::preparing);
  const auto& life = host.life();
  WorkerLayout layout;
  layout.slots = life.slots;
  if (life.items) {
    layout.mode = ItemWork::Rules{life.journaled()};
  }
  layout.lanes = life.all_lanes();
  for (ChunkId chunk = 0; chunk < life.chunks.size(); ++chunk) {
    layout.chunks.push_back({chunk, life.chunks[chunk].lane, life.chunks[chunk].bytes});
  }
  layout.spec_digest = "spec";
  layout.layout_digest = "layout";
  layout.fingerprint = speed_.arithmetic;
  layout.data_digest = speed_.data;
  later(host, within(life.prepare_high), Preparation{layout});
}

void WorkerShell::done(Host& host, const Preparation& what) { step(host, worker::Prepared{what.layout}); }

void WorkerShell::act(Host& host, worker::Connect& action) {
  lanes_.at(action.lane) = static_cast<ProcessId>(std::stoul(action.address));
  for (auto& [id, kept] : kept_) {
    if (kept.is_gradient && host.life().chunks[kept.chunk].lane == action.lane) {
      kept.sent = 0;  // to somebody else
    }
  }
}

void WorkerShell::act(Host& host, worker::Prefetch& action) {
  require(action.step < host.life().steps && !action.ranges.empty(), "examples of no step are read ahead");
}

void WorkerShell::act(Host& /*host*/, worker::Store& action) {
  require(!computation_.runs, "weights are stored while they are computed from");
  const auto found = kept_.find(action.payload);
  if (found == kept_.end() || found->second.is_gradient || found->second.chunk != action.chunk ||
      found->second.step != action.version) {
    throw Violation(name() + " stores weights that it does not have");
  }
  weights_[action.chunk] = {found->second.payload, found->second.header};
  kept_.erase(found);
}

// An item that was granted to this session again: its newer contribution is as good.
bool WorkerShell::is_replaced(Host& host, PayloadId id) const {
  const auto& old = kept_.at(id);
  return host.life().items && std::any_of(kept_.upper_bound(id), kept_.end(), [&](const auto& entry) {
           const auto& kept = entry.second;
           return kept.is_gradient && kept.chunk == old.chunk && kept.step == old.step && kept.node == old.node;
         });
}

void WorkerShell::act(Host& host, worker::Release& action) {
  const auto found = kept_.find(action.payload);
  if (found == kept_.end()) {
    throw Violation(name() + " gives up a payload twice");
  }
  const auto& kept = found->second;
  const bool is_old = kept.payload.timeline < newest_timeline_;
  // In rounds a newer version is as good as a receipt.
  const bool is_closed = !host.life().items && newest_seen_[{kept.payload.timeline, kept.chunk}] > kept.step;
  if (kept.is_gradient && !kept.receipted && !is_old && !is_closed && !is_replaced(host, action.payload)) {
    throw Violation(name() + " gives up step " + std::to_string(kept.step) + " chunk " + std::to_string(kept.chunk) +
                    " slots " + words(kept.node) + " without a receipt");
  }
  kept_.erase(found);
}

void WorkerShell::act(Host& host, worker::Compute& action) {
  state_.move(host.facts().worker, WorkerState::computing);
  require(!computation_.runs, "a worker computes two things at once");
  computation_.runs = true;
  host.judge().works(id());
  if (host.life().items) {
    require(action.ranges.size() == 1 && action.ranges.front().size() == 1, "more than one item is computed at once");
    computation_.origin = origin_of(host, action.step * host.life().slots + action.ranges.front().begin);
  } else {
    host.judge().computes(weights_.front().payload.timeline, action.step, action.ranges, weights());
  }
  if (host.traces()) {
    host.say(name() + " computes step " + std::to_string(action.step) + " slots " + words(action.ranges));
  }
  std::vector<Node> nodes;
  for (const auto range : action.ranges) {
    const auto cover = tree::cover(range, host.life().slots);
    nodes.insert(nodes.end(), cover.begin(), cover.end());
  }
  Micros at = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    at = compute_node(host, action.step, nodes[i], i + 1 == nodes.size(), at);
  }
  later(host, computing(at), ComputationEnd{action.step});
}

void WorkerShell::done(Host& host, const ComputationEnd& what) {
  computation_.runs = false;
  step(host, worker::Computed{what.step, {}});
}

// Slot after slot into a binary counter of sums, as a worker does it; the last slot's backward brings the chunks, the
// last layers' first. Returns when it is done.
Micros WorkerShell::compute_node(Host& host, Step step, Node node, bool is_last, Micros at) {
  const auto chunks = static_cast<ChunkId>(weights_.size());
  std::vector<std::vector<Payload>> counters(chunks);
  const auto all = weights();
  const auto timeline = weights_.front().payload.timeline;
  for (Slot slot = node.begin; slot < node.end; ++slot) {
    at += speed_.forward;
    for (ChunkId chunk = chunks; chunk-- > 0;) {
      at += speed_.backward / chunks;
      auto& counter = counters[chunk];
      counter.push_back(gradient(host.life(), step, slot, chunk, all));
      counter.back().timeline = timeline;
      counter.back().origin = computation_.origin;
      require(counter.size() <= tree::buffers_needed(node), "a worker needs more buffers than it was told");
      for (auto sums = tree::sums_completed_by(slot, node); sums > 0; --sums) {
        const auto right = counter.back();
        counter.pop_back();
        counter.back() = sum(counter.back(), right);
      }
      if (slot + 1 == node.end) {
        require(counter.size() == 1, "a node's sums do not end in one");
        later(host, computing(at), GradientComputed{step, node, chunk, counter.back(), is_last});
      }
    }
  }
  return at;
}

void WorkerShell::done(Host& host, const GradientComputed& what) {
  const auto id = next_payload_++;
  kept_[id] = {true, what.chunk, what.step, what.node, what.payload, 0, 0, false, false};
  host.facts().note(Fact::mid_compute, what.payload.timeline < newest_timeline_);
  step(host, worker::GradientReady{what.step, what.node, what.chunk, id, what.payload.fault, what.is_last});
}

void WorkerShell::act(Host& host, worker::Evaluate& action) {
  state_.move(host.facts().worker, WorkerState::evaluating);
  require(!computation_.runs, "a worker computes two things at once");
  computation_.runs = true;
  host.judge().works(id());
  host.judge().evaluates(weights_.front().payload.timeline, action.evaluation, weights());
  if (host.traces()) {
    host.say(name() + " evaluates item " + std::to_string(action.evaluation.item) + " at version " +
             std::to_string(action.evaluation.version));
  }
  later(host, computing(speed_.forward), EvaluationEnd{action.evaluation});
}

void WorkerShell::done(Host& host, const EvaluationEnd& what) {
  computation_.runs = false;
  step(host, worker::Evaluated{evaluate(what.evaluation, weights())});
}

void WorkerShell::act(Host& host, worker::Stop& action) {
  state_.move(host.facts().worker, WorkerState::stopped);
  if (action.for_good) {
    refused_ = true;
    host.judge().refused(id());
    host.facts().note(Fact::refused_data, action.failure.find("other data") != std::string::npos);
    host.facts().note(Fact::refused_arithmetic, action.failure.find("other arithmetic") != std::string::npos);
  }
  end(host, action.failure);
}

}  // namespace ballast::simulation
