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
  views_[action.lane] = {};
  for (auto& [id, kept] : kept_) {
    if (kept.is_gradient && host.life().chunks[kept.chunk].lane == action.lane) {
      kept.sent_over = 0;  // to somebody else
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
  const bool is_over = kept.receipted || is_old || is_closed || is_replaced(host, action.payload);
  if (kept.is_gradient && !is_over && is_for_arena(host, kept)) {
    note_given_up(host, kept);
  } else if (kept.is_gradient && !is_over && !has_expired(host, kept)) {
    throw Violation(name() + " gives up step " + std::to_string(kept.step) + " chunk " + std::to_string(kept.chunk) +
                    " slots " + words(kept.node) + " without a receipt");
  }
  const auto arena = kept.is_gradient ? std::optional(kept.arena) : std::nullopt;
  kept_.erase(found);
  if (arena) {
    give_back(*arena);
    go_on(host);
  }
}

void WorkerShell::give_back(std::uint32_t arena) {
  require(arenas_.out.at(arena) > 0, "an arena is given back twice");
  --arenas_.out[arena];
}

// With the slot for which it has waited.
void WorkerShell::go_on(Host& host) {
  const bool is_free = std::ranges::find(arenas_.out, 0U) != arenas_.out.end();
  if (computation_.awaits_arena && is_free && !std::exchange(computation_.goes_on, true)) {
    later(host, after(0), NextSlot{});
  }
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
    ordered_.computes(weights_.front().payload.timeline, action.step, action.ranges);
  }
  if (host.traces()) {
    host.say(name() + " computes step " + std::to_string(action.step) + " slots " + words(action.ranges));
  }
  computation_.step = action.step;
  computation_.timeline = weights_.front().payload.timeline;
  computation_.weights = weights();
  computation_.list = SlotList(host.life().slots, action.ranges);
  computation_.slot = kNoSlot;
  computation_.sums.assign(weights_.size(), PartialSums(host.life().slots));
  computation_.values.assign(weights_.size(), {});
  computation_.arenas.clear();
  computation_.begun = BegunSlots(host.life().slots, weights_.size());
  later(host, after(0), NextSlot{});
}

void WorkerShell::act(Host& host, worker::Amend& action) {
  require(computation_.runs && action.step == computation_.step, "a computation that is not in hand is amended");
  if (host.traces()) {
    host.say(name() + " is to compute step " + std::to_string(action.step) + " slots " + words(action.ranges));
  }
  ordered_.computes(computation_.timeline, action.step, action.ranges);
  host.facts().note(Fact::amended);
  computation_.list.become(action.ranges);
  if (computation_.slot != kNoSlot) {
    host.facts().note(Fact::slot_taken_back, computation_.list.run_end(computation_.slot) == computation_.slot);
    end_run(host, computation_.list.run_end(computation_.slot));
  }
}

void WorkerShell::done(Host& host, const ComputationEnd& what) {
  computation_.begun.end();
  computation_.runs = false;
  step(host, worker::Computed{what.step, {}});
}

// Slot after slot, as SlotSums has it; each slot's backward brings the chunks, the last layers' first.
void WorkerShell::done(Host& host, const NextSlot& /*what*/) {
  auto& own = computation_;
  own.goes_on = false;
  if (!own.list.next()) {
    own.awaits_arena = false;
    return later(host, after(0), ComputationEnd{own.step});
  }
  const auto arena = arenas_.take();
  if (!arena) {
    return std::exchange(own.awaits_arena, true) ? void() : step(host, worker::BufferWanted{});
  }
  own.awaits_arena = false;
  own.arenas.push_back(*arena);
  const auto next = own.list.take();
  if (own.slot != kNoSlot && *next != own.slot + 1) {
    end_run(host, own.slot + 1);
  }
  if (own.slot == kNoSlot || *next != own.slot + 1 || *next >= own.end) {
    own.end = own.list.run_end(*next);
  }
  own.slot = *next;
  own.begun.begins(own.slot);
  const auto last = static_cast<ChunkId>(weights_.size() - 1);
  later(host, computing(speed_.forward + speed_.backward / weights_.size()), ChunkComputed{last});
  step(host, worker::SlotBegun{own.step, own.slot});
}

void WorkerShell::done(Host& host, const ChunkComputed& what) {
  auto& own = computation_;
  auto& values = own.values[what.chunk];
  auto leaf = gradient(host.life(), own.step, own.slot, what.chunk, own.weights);
  leaf.timeline = own.timeline;
  leaf.origin = own.origin;
  values.push_back(leaf);
  own.sums[what.chunk].add(
      {{own.slot, own.slot + 1}, static_cast<std::uint32_t>(values.size() - 1)}, own.end,
      [&](const PartialSum& into, const PartialSum& with) {
        values[into.arena] = sum(values[into.arena], values[with.arena]);
        give_back(own.arenas[with.arena]);
      },
      [&](const PartialSum& each) { gives_up(host, what.chunk, each); });
  require(own.sums[what.chunk].sums().size() + 1 <= tree::buffers_needed({0, host.life().slots}),
          "a worker needs more buffers than it was told");
  if (what.chunk > 0) {
    later(host, computing(speed_.backward / weights_.size()), ChunkComputed{what.chunk - 1});
  } else {
    later(host, after(0), NextSlot{});
  }
}

void WorkerShell::end_run(Host& host, Slot end) {
  computation_.end = std::min(computation_.end, end);
  for (ChunkId chunk = 0; chunk < computation_.sums.size(); ++chunk) {
    computation_.sums[chunk].settle(computation_.end, [&](const PartialSum& sum) { gives_up(host, chunk, sum); });
  }
}

void WorkerShell::gives_up(Host& host, ChunkId chunk, const PartialSum& sum) {
  auto& own = computation_;
  own.begun.leaves(chunk, sum.node);
  const auto end = std::max(own.end, own.slot + 1);
  const bool is_last = sum.node.end == end && own.list.ahead() == end - (own.slot + 1);
  later(host, after(0),
        GradientComputed{own.step, sum.node, chunk, own.values[chunk][sum.arena], own.arenas[sum.arena], is_last});
}

void WorkerShell::done(Host& host, const GradientComputed& what) {
  const auto id = next_payload_++;
  kept_[id] = {true, what.chunk, what.step, what.node, what.payload, 0, false, what.arena};
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
