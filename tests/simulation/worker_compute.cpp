// A worker's shell and its computations: data, weights to compute from, gradients slot after slot, evaluations.
#include <algorithm>
#include <utility>

#include "protocol/tree.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"
#include "tests/simulation/worker_shell.h"

namespace ballast::simulation {

std::uint32_t WorkerShell::origin_of(Host& host, ItemId item) {
  std::vector<ItemBase> bases;
  for (ChunkId chunk = 0; chunk < weights_.size(); ++chunk) {
    const auto& header = weights_[chunk].header;
    bases.push_back({header.version,
                     weights_[chunk].payload.value,
                     header.clock,
                     {host.life().chunks[chunk].lane / host.life().lanes, header.incarnation, header.sequence}});
  }
  const auto clock = weights_.front().header.clock;
  const auto grant = grants_.items.find(clock);
  require(grant != grants_.items.end(), "an item is computed that was not granted");
  grants_.computed.insert(clock);
  grants_.expired.erase(item);
  return host.judge().items().computes(item, {grant->second, clock}, std::move(bases));
}

Expression WorkerShell::weights() const {
  std::vector<Expression> values;
  for (const auto& chunk : weights_) {
    require(chunk.payload.timeline == weights_.front().payload.timeline, "weights of two timelines are computed from");
    values.push_back(chunk.payload.value);
  }
  return all_weights(values);
}

void WorkerShell::act(Host& host, worker::Prepare& /*action*/) {
  state_.move(host.facts().worker, WorkerState::preparing);
  const auto& life = host.life();
  WorkerLayout layout;
  layout.slots = life.slots;
  if (life.items) {
    layout.mode = ItemWork::Rules{life.journaled()};
  }
  layout.averages = life.averaged_from.has_value();
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
  if (kept.is_gradient && !kept.receipted && !is_old && !is_closed && !is_replaced(host, action.payload) &&
      !has_expired(host, kept)) {
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

}  // namespace ballast::simulation
