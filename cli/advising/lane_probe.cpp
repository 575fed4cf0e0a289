#include "cli/advising/lane_probe.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cli/advising/message_probe.h"
#include "common/job/clip_norms.h"
#include "common/job/schedule.h"
#include "common/machine/processor_time.h"
#include "common/numeric/vector.h"
#include "server/weights.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMostProbed = 48U << 20U;  // bytes of weights; their state and another version come beside

// Microseconds of this thread a byte, over as many bytes as there is time for; the first call is not counted.
double a_byte(double seconds, const std::function<std::uint64_t()>& work) {
  work();
  std::uint64_t bytes = 0;
  const auto begin = processor_time();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  do {
    bytes += work();
  } while (std::chrono::steady_clock::now() < limit);
  const auto spent = std::chrono::duration<double, std::micro>(processor_time() - begin).count();
  return spent / static_cast<double>(std::max<std::uint64_t>(bytes, 1));
}

// Of the model: the first ones are small, and the last are like most.
std::vector<ChunkId> probed_chunks(const Job& job) {
  std::vector<ChunkId> chunks;
  std::uint64_t bytes = 0;
  for (auto chunk = job.arena.chunks.rbegin(); chunk != job.arena.chunks.rend() && bytes < kMostProbed; ++chunk) {
    if (chunk->group != Group::statistics) {
      chunks.push_back(chunk->id);
      bytes += chunk->bytes();
    }
  }
  return chunks;
}

double sum_of(const Job& job, const std::vector<ChunkId>& chunks, double seconds) {
  std::vector<std::vector<float>> sums;
  for (const auto chunk : chunks) {
    sums.emplace_back(job.arena.chunks[chunk].elements, 1.0F);
  }
  std::size_t largest = 0;
  for (const auto& sum : sums) {
    largest = std::max(largest, sum.size());
  }
  // What has come lies in the cache: it has just been written there.
  const std::vector<float> addend(largest, 1e-9F);
  return a_byte(seconds, [&, next = std::size_t{0}]() mutable {
    auto& sum = sums[next++ % sums.size()];
    add_into(sum.data(), addend.data(), sum.size());
    return sum.size() * sizeof(float);
  });
}

double apply_of(const Job& job, const std::vector<ChunkId>& chunks, double seconds) {
  LaneWeights weights(job, chunks);
  weights.initialize();
  std::size_t largest = 0;
  for (const auto chunk : chunks) {
    largest = std::max<std::size_t>(largest, job.arena.chunks[chunk].elements);
  }
  const std::vector<float> root(largest, 1e-9F);
  const bool measures = waits_for_the_lead(job);
  const auto factors = step_factors(job.spec.training, job.steps.steps, 0, 0);
  return a_byte(seconds, [&, next = std::size_t{0}]() mutable {
    const auto chunk = chunks[next++ % chunks.size()];
    const std::span gradient(root.data(), job.arena.chunks[chunk].elements);
    if (measures) {
      static_cast<void>(weights.measure(chunk, gradient, true, prospect_of(factors)));
    }
    weights.apply(chunk, weights.version(chunk), gradient, factors, {.staleness = 1});
    return gradient.size_bytes();
  });
}

}  // namespace

bool waits_for_the_lead(const Job& job) {
  const auto& training = job.spec.training;
  const bool acts = !is_item_mode(training.mode) && training.non_finite != NonFinite::halt;
  return acts || has_trust_ratios(training.optimizer) ||
         !clip_norms(clip_of_updates(training), job.arena).of_chunk.empty();
}

LaneProbe probe_lane(const Job& job, double seconds) {
  const auto chunks = probed_chunks(job);
  if (chunks.empty()) {
    throw std::runtime_error("job " + job.spec.job + ": its model has no weights that could be updated");
  }
  LaneProbe probe;
  probe.sum = sum_of(job, chunks, seconds / 4);
  probe.apply = apply_of(job, chunks, seconds / 4);
  std::uint64_t largest = 0;
  for (const auto& chunk : job.arena.chunks) {
    largest = std::max(largest, chunk.bytes());
  }
  const auto large = probe_messages(job, largest, seconds / 4);
  const auto small = probe_messages(job, job.arena.statistics().bytes(), seconds / 4);
  probe.message = large.received;
  probe.reply = large.sent;
  probe.wire_message = small.carried;
  probe.wire = std::max(0.0, large.carried - small.carried) / static_cast<double>(largest);
  return probe;
}

}  // namespace ballast
