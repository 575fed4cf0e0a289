#include "tests/simulation/judge/item_histories.h"

#include <algorithm>

#include "tests/simulation/judge/violation.h"

namespace ballast::simulation {

bool ItemHistories::Chunk::has_pending(ItemId item) const {
  return std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(applied), entries.end(),
                     [&](const Entry& entry) { return entry.item == item; });
}

bool ItemHistories::Chunk::has(ItemId item) const {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.item == item; });
}

std::string ItemHistories::place(ChunkId chunk, ItemId item) const {
  return "chunk " + std::to_string(chunk) + ", item " + std::to_string(item) + " (step " +
         std::to_string(item / life_.slots) + ", slot " + std::to_string(item % life_.slots) + ")";
}

ItemHistories::History& ItemHistories::of(Timeline timeline) {
  const auto found = histories_.find(timeline);
  if (found == histories_.end()) {
    throw Violation("timeline " + std::to_string(timeline) + " is followed, which no durable ledger names");
  }
  return found->second;
}

Step ItemHistories::next_cut(const History& known) const {
  const bool evaluates = life_.validation_examples > 0 || life_.test_examples > 0;
  Step step = known.furthest;
  const auto next = [&](Step every) { return every == 0 ? life_.steps : (step / every + 1) * every; };
  const auto is_passed_over = [&] {
    return step < life_.steps && life_.updates(step) < known.resumed_at &&
           !(evaluates && step % life_.evaluate_every == 0);
  };
  do {
    step = std::min({life_.steps, next(snapshot_every_), evaluates ? next(life_.evaluate_every) : life_.steps});
  } while (is_passed_over());
  return step;
}

void ItemHistories::resumes_with_snapshots(Step every) {
  snapshot_every_ = every;
  for (auto& [timeline, known] : histories_) {
    for (const auto& chunk : known.chunks) {
      for (const auto& entry : chunk.entries) {
        known.resumed_at = std::max(known.resumed_at, entry.item + 1);
      }
    }
  }
}

// ---- how they grow

void ItemHistories::begin(Timeline timeline, SnapshotId base) {
  History begun;
  begun.base = base;
  begun.chunks.resize(life_.chunks.size());
  begun.furthest = base.step;
  begun.checked = base.step;
  if (base.step > 0) {
    const auto& older = of(base.timeline);
    const auto length = life_.updates(base.step);
    for (std::size_t chunk = 0; chunk < begun.chunks.size(); ++chunk) {
      const auto& known = older.chunks[chunk];
      require(known.applied >= length, "a timeline begins at a step that its base's timeline has never come to");
      begun.chunks[chunk].entries.assign(known.entries.begin(),
                                         known.entries.begin() + static_cast<std::ptrdiff_t>(length));
      begun.chunks[chunk].applied = length;
    }
    begun.statistics = older.statistics;
    begun.statistics.erase(begun.statistics.lower_bound(base.step), begun.statistics.end());
  }
  histories_[timeline] = std::move(begun);
}

void ItemHistories::rewind(Timeline timeline, ChunkId chunk, Step base) {
  auto& known = of(timeline).chunks[chunk];
  known.entries.resize(life_.updates(base));
  known.applied = life_.updates(base);
}

void ItemHistories::apply_next(Timeline timeline, ChunkId chunk) {
  auto& path = of(timeline);
  auto& known = path.chunks[chunk];
  auto& entry = known.entries[known.applied];
  entry.after = after(timeline, chunk, known.applied);
  ++known.applied;
  if (chunk == life_.statistics()) {
    sum_statistics(path, entry.item / life_.slots);
  }
  advance(path);
}

void ItemHistories::recover(Timeline timeline, ChunkId chunk, Version version) {
  auto& path = of(timeline);
  auto& known = path.chunks[chunk];
  known.entries.resize(version);
  known.applied = std::min(known.applied, static_cast<std::size_t>(version));
  while (known.applied < version) {
    known.entries[known.applied].after = after(timeline, chunk, known.applied);
    ++known.applied;
  }
}

// Again, for a shard that comes back: after a loss they are others.
void ItemHistories::sum_from(Timeline timeline, Step base) {
  for (Step step = base; step < life_.steps; ++step) {
    sum_statistics(of(timeline), step);
  }
}

StepStatistics ItemHistories::part(const Entry& entry) const {
  const Step step = entry.item / life_.slots;
  return entry.factors.skip ? StepStatistics{step, 0, 0, 0} : statistics(step, entry.payload.value);
}

void ItemHistories::sum_statistics(History& known, Step step) const {
  const auto& own = known.chunks[life_.statistics()];
  StepStatistics sum{step, 0, 0, 0};
  Slot items = 0;
  for (std::size_t i = 0; i < own.applied; ++i) {
    if (own.entries[i].item / life_.slots == step) {
      const auto item = part(own.entries[i]);
      sum.loss += item.loss;
      sum.correct += item.correct;
      sum.examples += item.examples;
      ++items;
    }
  }
  if (items == life_.slots) {
    known.statistics[step].push_back(sum);
  }
}

bool ItemHistories::has_come_to(const History& known, Step step) const {
  return std::all_of(known.chunks.begin(), known.chunks.end(), [&](const Chunk& chunk) {
    const auto applied = chunk.entries.begin() + static_cast<std::ptrdiff_t>(chunk.applied);
    const auto items = std::count_if(chunk.entries.begin(), applied,
                                     [&](const Entry& entry) { return entry.item < life_.updates(step); });
    return static_cast<ItemId>(items) >= life_.updates(step);
  });
}

void ItemHistories::advance(History& known) const {
  std::size_t least = life_.updates(life_.steps);
  for (const auto& chunk : known.chunks) {
    least = std::min(least, chunk.applied);
  }
  while (life_.updates(known.furthest + 1) <= least && has_come_to(known, known.furthest + 1)) {
    ++known.furthest;
  }
}

// ---- what they have come to

ChunkValue ItemHistories::after(Timeline timeline, ChunkId chunk, Version version) const {
  const auto& entries = of(timeline).chunks[chunk].entries;
  if (chunk == life_.statistics()) {
    return statistics_value(version + 1);
  }
  const auto update_of = [&](const Entry& entry) {
    return Update{chunk, entry.item / life_.slots, static_cast<Slot>(entry.item % life_.slots), entry.staleness};
  };
  if (life_.chunks[chunk].rule != LifeRule::change) {
    const auto& entry = entries[version];
    return apply(life_, update_of(entry), value(timeline, chunk, version), entry.payload, entry.factors);
  }
  // What it was at first and all changes, each once.
  auto sum = initial(life_, chunk);
  for (Version each = 0; each <= version; ++each) {
    sum.weights += change(life_, update_of(entries[each]), entries[each].payload, entries[each].factors);
  }
  return sum;
}

ChunkValue ItemHistories::value(Timeline timeline, ChunkId chunk, Version version) const {
  if (chunk == life_.statistics()) {
    return statistics_value(version);
  }
  if (version == 0) {
    return initial(life_, chunk);
  }
  const auto& known = of(timeline).chunks[chunk];
  if (version > known.applied) {
    throw Violation("version " + std::to_string(version) + " of chunk " + std::to_string(chunk) +
                    " is not there, or was forgotten");
  }
  return known.entries[version - 1].after;
}

Expression ItemHistories::weights(Timeline timeline, Step step) const {
  std::vector<Expression> values;
  for (ChunkId chunk = 0; chunk < life_.chunks.size(); ++chunk) {
    values.push_back(value(timeline, chunk, life_.updates(step)).weights);
  }
  return all_weights(values);
}

}  // namespace ballast::simulation
