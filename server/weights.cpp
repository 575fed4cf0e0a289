#include "server/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/arena/initial.h"
#include "common/job/clip_norms.h"
#include "common/job/optimizer_settings.h"
#include "common/job/steps.h"
#include "common/job/trust_ratios.h"
#include "common/numeric/vector.h"

namespace ballast {

LaneWeights::LaneWeights(const Job& job, const std::vector<ChunkId>& chunks)
    : job_(job),
      each_item_is_update_(is_item_mode(job.spec.training.mode)),
      descents_(descents(job.spec.training, job.arena.parameters)),
      tensors_(state_tensors(optimizer_settings(job.spec.training, Group::decay))),
      ids_(chunks) {
  for (const auto id : chunks) {
    index_.emplace(id, entries_.size());
    Entry entry;
    entry.chunk = job.arena.chunks[id];
    entry.pieces = pieces_of(job.arena, entry.chunk);
    entry.by_piece = stretches_of(entry);
    entry.stretches = joined(entry.by_piece);
    entry.tensors = is_descended(entry.chunk.group) ? tensors_beside_weights(job.spec.training, entry.chunk.group) : 0;
    const auto bytes = entry.chunk.bytes();
    const auto averages = averages_weights(job.spec.training) && is_descended(entry.chunk.group) ? bytes : 0;
    most_pooled_ += 3 * bytes + averages + entry.tensors * bytes;  // two versions, and one for readers
    most_pooled_ += bytes + entry.tensors * bytes;                 // a snapshot's
    entries_.push_back(std::move(entry));
  }
  drawn_ = entries_.size();
}

std::vector<LaneWeights::Stretch> LaneWeights::stretches_of(const Entry& entry) const {
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < entry.pieces.size(); ++i) {
    const auto& piece = entry.pieces[i];
    const auto end = i + 1 < entry.pieces.size() ? entry.pieces[i + 1].offset : entry.chunk.elements;
    const float momentum = each_item_is_update_ ? job_.arena.parameters[piece.parameter].momentum : 0.0F;
    stretches.push_back(
        {piece.offset, end - piece.offset, piece.parameter, descents_.of_parameter[piece.parameter], momentum});
  }
  return stretches;
}

std::vector<LaneWeights::Stretch> LaneWeights::joined(const std::vector<Stretch>& stretches) {
  std::vector<Stretch> joined;
  for (const auto& stretch : stretches) {
    if (!joined.empty() && joined.back().is_alike(stretch)) {
      joined.back().elements += stretch.elements;
    } else {
      joined.push_back(stretch);
    }
  }
  return joined;
}

// ---- beginnings

void LaneWeights::begin(Version version) {
  drawn_ = entries_.size();
  for (auto& entry : entries_) {
    begin(entry, version);
    if (entry.chunk.group == Group::statistics) {  // no part of what is restored
      make_room(entry);
      std::fill(entry.newest->values.begin(), entry.newest->values.end(), 0.0F);
    }
  }
}

void LaneWeights::begin(Entry& entry, Version version) {
  give_up(entry, std::move(entry.older));
  give_up(entry, std::move(entry.newest));
  for (auto& tensor : std::exchange(entry.state, {})) {
    give_up(entry, std::move(tensor));
  }
  entry.version = version;
}

void LaneWeights::make_room(Entry& entry) {
  entry.newest = pooled(entry.chunk.elements);
  for (std::size_t i = 0; i < entry.tensors; ++i) {
    entry.state.push_back(pooled(entry.chunk.elements));
  }
}

void LaneWeights::begin_drawn() {
  for (auto& entry : entries_) {
    begin(entry, 0);
  }
  drawn_ = 0;
}

std::uint64_t LaneWeights::draw_next() {
  auto& entry = entries_[drawn_++];
  make_room(entry);
  const auto values = entry.newest->values;
  std::fill(values.begin(), values.end(), 0.0F);
  for (const auto& piece : entry.pieces) {
    fill_initial(values.subspan(piece.offset, piece.elements), job_.arena.parameters[piece.parameter].initial,
                 job_.spec.training.seed, piece.parameter, piece.first);
  }
  for (std::size_t i = 0; i < entry.tensors; ++i) {
    if (i < tensors_.size()) {
      std::fill(entry.state[i]->values.begin(), entry.state[i]->values.end(), tensors_[i].initial);
    } else {
      std::ranges::copy(values, entry.state[i]->values.begin());  // the average
    }
  }
  return entry.chunk.bytes() * (1 + entry.tensors);
}

void LaneWeights::initialize() {
  begin_drawn();
  while (has_to_draw()) {
    draw_next();
  }
}

void LaneWeights::restore(ChunkId chunk, Version version, std::span<const float> weights,
                          const std::vector<std::vector<float>>& state) {
  auto& entry = this->entry(chunk);
  const auto fits = [&](std::size_t elements) { return elements == entry.chunk.elements; };
  if (!fits(weights.size()) || state.size() != entry.tensors ||
      !std::all_of(state.begin(), state.end(), [&](const auto& tensor) { return fits(tensor.size()); })) {
    throw std::invalid_argument("chunk " + std::to_string(chunk) + " is " + std::to_string(entry.chunk.elements) +
                                " weights and " + std::to_string(entry.tensors) +
                                " tensors of state, which is not what it is to be restored from");
  }
  begin(entry, version);
  make_room(entry);
  std::copy(weights.begin(), weights.end(), entry.newest->values.begin());
  for (std::size_t i = 0; i < entry.tensors; ++i) {
    std::copy(state[i].begin(), state[i].end(), entry.state[i]->values.begin());
  }
}

// ---- buffers

std::unique_ptr<ChunkBuffer> LaneWeights::pooled(std::size_t elements) {
  auto& free = pool_[elements];
  if (free.empty()) {
    bytes_ += elements * sizeof(float);
    free_idle();
    return std::make_unique<ChunkBuffer>(elements);
  }
  auto buffer = std::move(free.back());
  free.pop_back();
  buffer->retired = false;
  return buffer;
}

// Pooled ones of other sizes make room.
void LaneWeights::free_idle() {
  for (auto& [elements, free] : pool_) {
    while (bytes_ > most_pooled_ && !free.empty()) {
      bytes_ -= elements * sizeof(float);
      free.pop_back();
    }
  }
}

// A buffer that is neither a version nor state any more goes back to the pool when its last reader lets go.
void LaneWeights::give_up(Entry& entry, std::unique_ptr<ChunkBuffer> buffer) {
  if (!buffer) {
    return;
  }
  buffer->retired = true;
  if (buffer->readers == 0) {
    pool(std::move(buffer));
  } else {
    entry.retired.push_back(std::move(buffer));
  }
}

void LaneWeights::pool(std::unique_ptr<ChunkBuffer> buffer) {
  const auto elements = buffer->values.size();
  if (bytes_ > most_pooled_) {
    bytes_ -= elements * sizeof(float);
  } else {
    pool_[elements].push_back(std::move(buffer));
  }
}

std::unique_ptr<ChunkBuffer> LaneWeights::take_buffer(Entry& entry) {
  give_up(entry, std::move(entry.older));
  return pooled(entry.chunk.elements);
}

ChunkBuffer* LaneWeights::read(ChunkId chunk, Version version) {
  auto& entry = this->entry(chunk);
  auto* buffer = version == entry.version ? entry.newest.get() : entry.older.get();
  assert(buffer != nullptr && (version == entry.version || version + 1 == entry.version));
  ++buffer->readers;
  return buffer;
}

ChunkBuffer* LaneWeights::read_average(ChunkId chunk) {
  auto& entry = this->entry(chunk);
  assert(averages_weights(job_.spec.training));
  auto* buffer = is_descended(entry.chunk.group) ? entry.state.back().get() : entry.newest.get();
  ++buffer->readers;
  return buffer;
}

std::vector<ChunkBuffer*> LaneWeights::read_state(ChunkId chunk) {
  std::vector<ChunkBuffer*> buffers;
  for (const auto& tensor : entry(chunk).state) {
    ++tensor->readers;
    buffers.push_back(tensor.get());
  }
  return buffers;
}

// A snapshot has to write what it took: only the chunks that are updated before are copied.
void LaneWeights::unshare_state(Entry& entry) {
  for (auto& tensor : entry.state) {
    if (tensor->readers > 0) {
      auto copy = pooled(tensor->values.size());
      std::copy(tensor->values.begin(), tensor->values.end(), copy->values.begin());
      give_up(entry, std::exchange(tensor, std::move(copy)));
    }
  }
}

void LaneWeights::release(ChunkId chunk, ChunkBuffer* buffer) {
  if (--buffer->readers != 0 || !buffer->retired) {
    return;
  }
  auto& retired = entry(chunk).retired;
  const auto found =
      std::find_if(retired.begin(), retired.end(), [&](const auto& candidate) { return candidate.get() == buffer; });
  pool(std::move(*found));
  retired.erase(found);
}

// ---- arithmetic

RootMeasure LaneWeights::measure(ChunkId chunk, std::span<const float> root, bool known_finite,
                                 const Prospect& prospect) const {
  const auto& entry = this->entry(chunk);
  assert(root.size() == entry.chunk.elements);
  auto result = measure_clipping(entry, root, known_finite);
  if (has_trust_ratios(job_.spec.training.optimizer) && is_descended(entry.chunk.group)) {
    result.sums = measure_trust(entry, root, prospect);
  }
  return result;
}

// Two for each piece of a parameter that has a ratio. They mean nothing if the root is not finite.
std::vector<double> LaneWeights::measure_trust(const Entry& entry, std::span<const float> root,
                                               const Prospect& prospect) const {
  std::vector<double> sums;
  const StepScalars scalars{0, prospect.step_size, prospect.second_moment_root};
  std::span<const float> state[kMaxStateTensors];
  for (const auto& piece : entry.pieces) {
    const auto& descent = descents_.of(piece.parameter);
    if (!has_trust_ratio(descent)) {
      continue;
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      state[i] = entry.state[i]->values.subspan(piece.offset, piece.elements);
    }
    const auto found = trust_sums(
        descent.optimizer, scalars, entry.newest->values.subspan(piece.offset, piece.elements),
        root.subspan(piece.offset, piece.elements), std::span<const std::span<const float>>(state, tensors_.size()));
    sums.push_back(found.weights);
    sums.push_back(found.update);
  }
  return sums;
}

RootMeasure LaneWeights::measure_clipping(const Entry& entry, std::span<const float> root, bool known_finite) const {
  RootMeasure result;
  if (entry.pieces.empty()) {
    return result;
  }
  const auto clip = clip_of_updates(job_.spec.training);
  const bool has_norm = (clip.tensor_norm || clip.global_norm) && is_descended(entry.chunk.group);
  if (!has_norm && (known_finite || all_finite(root))) {
    return result;
  }
  std::optional<std::uint64_t> bad;
  if (clip.tensor_norm && is_descended(entry.chunk.group)) {
    for (const auto& piece : entry.pieces) {
      const auto measured = ballast::measure(root.subspan(piece.offset, piece.elements));
      result.sums.push_back(measured.sum_of_squares);
      if (measured.first_non_finite && !bad) {
        bad = piece.offset + *measured.first_non_finite;
      }
    }
  } else {
    const auto measured = ballast::measure(root);
    bad = measured.first_non_finite;
    if (clip.global_norm && is_descended(entry.chunk.group)) {
      result.sums = {measured.sum_of_squares};
    }
  }
  if (bad) {
    result.finite = false;
    result.parameter = parameter_at(entry, *bad);
  }
  return result;
}

std::uint32_t LaneWeights::parameter_at(const Entry& entry, std::uint64_t element) {
  auto parameter = entry.pieces.front().parameter;
  for (const auto& piece : entry.pieces) {
    if (piece.offset <= element) {
      parameter = piece.parameter;
    }
  }
  return parameter;
}

void LaneWeights::apply(ChunkId chunk, Version version, std::span<const float> root, const StepFactors& factors,
                        const ItemSource& item) {
  auto& entry = this->entry(chunk);
  assert(entry.version == version && (factors.skip || root.size() == entry.chunk.elements));
  auto next = take_buffer(entry);
  if (factors.skip) {
    std::ranges::copy(entry.newest->values, next->values.begin());
  } else if (is_descended(entry.chunk.group)) {
    unshare_state(entry);
    descend(entry, root, factors, next->values);
    average(entry, next->values);
  } else if (entry.chunk.group == Group::state) {
    change(entry, root, item, next->values);
  } else {
    std::memcpy(next->values.data(), root.data(), root.size_bytes());
  }
  entry.older = std::exchange(entry.newest, std::move(next));
  entry.version = version + 1;
}

void LaneWeights::descend(Entry& entry, std::span<const float> root, const StepFactors& factors,
                          std::span<float> next) {
  const auto& scales = factors.scales;
  assert(scales.size() <= 1 || scales.size() == job_.arena.parameters.size());
  const std::span<const float> weights = entry.newest->values;
  std::span<float> state[kMaxStateTensors];
  for (const auto& stretch : scales.size() <= 1 ? entry.stretches : entry.by_piece) {
    const auto offset = stretch.offset;
    const auto elements = stretch.elements;
    const auto& descent = descents_.kinds[stretch.descent];
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      state[i] = entry.state[i]->values.subspan(offset, elements);
    }
    const float scale = scales.empty() ? 1.0F : scales[scales.size() == 1 ? 0 : stretch.parameter];
    optimizer_step(descent.optimizer,
                   descent.scalars({factors.learning_rate, factors.step_size, factors.second_moment_root}), scale,
                   weights.subspan(offset, elements), root.subspan(offset, elements),
                   std::span(state).first(tensors_.size()), next.subspan(offset, elements));
  }
}

// Of the version that `next` will be.
void LaneWeights::average(Entry& entry, std::span<const float> next) const {
  const auto& rule = job_.spec.training.weight_average;
  if (!rule.decay) {
    return;
  }
  const auto values = entry.state.back()->values;
  if (entry.version + 1 <= rule.begins_at_step.value_or(1)) {
    std::ranges::copy(next, values.begin());
  } else {
    average_weights(next, *rule.decay, values);
  }
}

// A change that was computed from old values overshoots, the more so the more others have changed them since. A
// statistic is blended into the newest value, which is left between the two.
void LaneWeights::change(const Entry& entry, std::span<const float> root, const ItemSource& item,
                         std::span<float> next) const {
  const auto& training = job_.spec.training;
  const std::span<const float> values = entry.newest->values;
  if (each_item_is_update_ && examples_of_slot(training, job_.sizes.train, item.step, item.slot) == 0) {
    std::ranges::copy(values, next.begin());
    return;
  }
  const float scale = 1.0F / static_cast<float>(std::max<std::uint64_t>(item.staleness, 1));
  for (const auto& stretch : entry.stretches) {
    const auto old = values.subspan(stretch.offset, stretch.elements);
    const auto sent = root.subspan(stretch.offset, stretch.elements);
    const auto into = next.subspan(stretch.offset, stretch.elements);
    if (stretch.momentum != 0) {
      blend_state(old, sent, stretch.momentum, into);
    } else {
      change_state(old, sent, scale, into);
    }
  }
}

std::span<const float> LaneWeights::newest(ChunkId chunk) const { return entry(chunk).newest->values; }

StepStatistics LaneWeights::statistics(ChunkId chunk, Step step) const {
  // Counts that no worker of ours sends are not passed on: they would make the whole report unreadable.
  const auto values = newest(chunk);
  const auto count = [](float value) { return std::isfinite(value) ? value : 0.0F; };
  return {step, values[0], count(values[1]), count(values[2])};
}

std::vector<std::span<const float>> LaneWeights::state(ChunkId chunk) const {
  std::vector<std::span<const float>> spans;
  for (const auto& tensor : entry(chunk).state) {
    spans.emplace_back(tensor->values);
  }
  return spans;
}

Version LaneWeights::version(ChunkId chunk) const { return entry(chunk).version; }

}  // namespace ballast
