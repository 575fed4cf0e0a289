// The server's update against what memory allows.
#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "common/numeric/optimizer.h"
#include "common/numeric/vector.h"

namespace ballast::bench {

namespace {

constexpr std::size_t kApplyElements = 25'557'032;  // ResNet-50's; five arrays of them are far beyond any cache
constexpr std::size_t kChunk = (1U << 20U) / sizeof(float);
constexpr double kApplySeconds = 16;
constexpr unsigned kMostThreads = 2;

struct Arrays {
  std::vector<float> weights = std::vector<float>(kApplyElements, 0.5F);
  std::vector<float> gradient = std::vector<float>(kApplyElements, 0.001F);
  std::vector<float> first = std::vector<float>(kApplyElements, 0.0F);
  std::vector<float> second = std::vector<float>(kApplyElements, 0.0F);
  std::vector<float> next = std::vector<float>(kApplyElements, 0.0F);
};

using Pass = std::function<void(Arrays&, std::size_t begin, std::size_t count)>;

struct ApplyWork {
  std::string name;
  unsigned streams = 0;  // arrays read plus arrays written
  Pass run;
  unsigned plain_streams = 0;
  Pass plain;  // of updates: a loop with the same streams
};

// Plain loops: each array that an update with so much state reads or writes is read or written, once.
void stream_2_1(const float* __restrict w, const float* __restrict g, float* __restrict next, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    next[i] = w[i] + g[i];
  }
}

void stream_3_2(const float* __restrict w, const float* __restrict g, float* __restrict a, float* __restrict next,
                std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float sum = g[i] + a[i];
    a[i] = sum;
    next[i] = w[i] + sum;
  }
}

void stream_4_3(const float* __restrict w, const float* __restrict g, float* __restrict a, float* __restrict b,
                float* __restrict next, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float sum = g[i] + a[i];
    const float other = g[i] + b[i];
    a[i] = sum;
    b[i] = other;
    next[i] = w[i] + sum + other;
  }
}

void stream(unsigned state, Arrays& a, std::size_t begin, std::size_t count) {
  const float* weights = a.weights.data() + begin;
  const float* gradient = a.gradient.data() + begin;
  float* next = a.next.data() + begin;
  if (state == 0) {
    stream_2_1(weights, gradient, next, count);
  } else if (state == 1) {
    stream_3_2(weights, gradient, a.first.data() + begin, next, count);
  } else {
    stream_4_3(weights, gradient, a.first.data() + begin, a.second.data() + begin, next, count);
  }
}

void update(const OptimizerSettings& settings, unsigned state, Arrays& a, std::size_t begin, std::size_t count) {
  const std::span<float> tensors[] = {std::span(a.first).subspan(begin, count),
                                      std::span(a.second).subspan(begin, count)};
  optimizer_step(settings, {0.01F, 0.01F, 0.5F}, 1.0F, std::span(a.weights).subspan(begin, count),
                 std::span(a.gradient).subspan(begin, count), std::span(tensors).first(state),
                 std::span(a.next).subspan(begin, count));
}

ApplyWork optimizer_work(const std::string& name, const OptimizerSettings& settings) {
  const auto state = static_cast<unsigned>(state_tensors(settings).size());
  return {
      name, 3 + 2 * state,
      [settings, state](Arrays& a, std::size_t begin, std::size_t count) { update(settings, state, a, begin, count); },
      3 + 2 * state, [state](Arrays& a, std::size_t begin, std::size_t count) { stream(state, a, begin, count); }};
}

std::vector<ApplyWork> all_work() {
  const auto copy = [](Arrays& a, std::size_t begin, std::size_t count) {
    std::memcpy(a.next.data() + begin, a.weights.data() + begin, count * sizeof(float));
  };
  return {
      optimizer_work("sgd", {}),
      optimizer_work("sgd, momentum", {.momentum = 0.9}),
      optimizer_work("sgd, nesterov", {.momentum = 0.9, .nesterov = true}),
      optimizer_work("adam", {.kind = OptimizerKind::adam}),
      optimizer_work("adam, coupled decay", {.kind = OptimizerKind::adam, .weight_decay = 1e-4}),
      optimizer_work("adamw", {.kind = OptimizerKind::adamw, .weight_decay = 0.01}),
      optimizer_work("adagrad", {.kind = OptimizerKind::adagrad}),
      optimizer_work("rmsprop", {.kind = OptimizerKind::rmsprop}),
      optimizer_work("rmsprop, momentum", {.kind = OptimizerKind::rmsprop, .momentum = 0.9}),
      optimizer_work("lars, momentum", {.kind = OptimizerKind::lars, .momentum = 0.9, .weight_decay = 1e-4}),
      optimizer_work("lamb", {.kind = OptimizerKind::lamb, .weight_decay = 0.01}),
      {"sum of two contributions (to memcpy)", 3,
       [](Arrays& a, std::size_t begin, std::size_t count) {
         add_into(a.next.data() + begin, a.gradient.data() + begin, count);
       },
       2, copy},
      {"sum of squares (to memcpy)", 1,
       [](Arrays& a, std::size_t begin, std::size_t count) {
         // Kept, so that the loop is not left out.
         a.next[begin] = static_cast<float>(measure(std::span(a.gradient).subspan(begin, count)).sum_of_squares);
       },
       2, copy},
      {"sums of lamb's trust ratio (to memcpy)", 4,
       [](Arrays& a, std::size_t begin, std::size_t count) {
         const std::span<const float> state[] = {std::span(a.first).subspan(begin, count),
                                                 std::span(a.second).subspan(begin, count)};
         const auto sums =
             trust_sums({.kind = OptimizerKind::lamb, .weight_decay = 0.01}, {0.01F, 1.5F, 0.5F},
                        std::span(a.weights).subspan(begin, count), std::span(a.gradient).subspan(begin, count), state);
         a.next[begin] = static_cast<float>(sums.update);
       },
       2, copy},
  };
}

// Each thread goes over a part of the arrays, in chunks as a lane does it.
void pass(const Pass& run, Arrays& arrays, unsigned threads) {
  const auto part = [&](unsigned thread) {
    const std::size_t chunks = (kApplyElements + kChunk - 1) / kChunk;
    const std::size_t end = std::min(kApplyElements, (thread + 1) * chunks / threads * kChunk);
    for (std::size_t at = thread * chunks / threads * kChunk; at < end; at += kChunk) {
      run(arrays, at, std::min(kChunk, end - at));
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread) {
    others.emplace_back(part, thread);
  }
  part(0);
  for (auto& other : others) {
    other.join();
  }
}

struct Used {
  double clock = 0;      // seconds
  double processor = 0;  // seconds of all threads
};

void time_pass(const Pass& run, Arrays& arrays, unsigned threads, Used& used) {
  const double processor = own_cpu_seconds();
  const auto begin = Clock::now();
  pass(run, arrays, threads);
  used.clock += seconds_since(begin);
  used.processor += own_cpu_seconds() - processor;
}

struct Compared {
  double rate = 0;  // bytes a second of each thread's processor time
  double plain_rate = 0;
  double clock_rate = 0;
  double clock_ratio = 0;
};

// The update and its plain loop take turns, pass by pass, so that whatever else the machine does befalls both.
Compared compare(const ApplyWork& work, Arrays& arrays, unsigned threads, double seconds) {
  Used used;
  Used plain;
  std::uint64_t passes = 0;
  while (used.clock + plain.clock < seconds) {
    time_pass(work.run, arrays, threads, used);
    time_pass(work.plain, arrays, threads, plain);
    ++passes;
  }
  const auto bytes = static_cast<double>(passes * kApplyElements * sizeof(float) * work.streams);
  const auto plain_bytes = static_cast<double>(passes * kApplyElements * sizeof(float) * work.plain_streams);
  Compared result;
  result.rate = bytes / used.processor * threads;
  result.plain_rate = plain_bytes / plain.processor * threads;
  result.clock_rate = bytes / used.clock;
  result.clock_ratio = result.clock_rate / (plain_bytes / plain.clock);
  return result;
}

Row row_of(const ApplyWork& work, unsigned threads, const std::vector<Compared>& repetitions) {
  std::vector<double> rates;
  std::vector<double> plain;
  std::vector<double> ratios;
  std::vector<double> clock_rates;
  std::vector<double> clock_ratios;
  for (const auto& one : repetitions) {
    rates.push_back(one.rate / 1e9);
    plain.push_back(one.plain_rate / 1e9);
    ratios.push_back(one.rate / one.plain_rate);
    clock_rates.push_back(one.clock_rate / 1e9);
    clock_ratios.push_back(one.clock_ratio);
  }
  const auto ratio = spread_of(ratios);
  return {{"work", work.name},
          {"threads", std::uint64_t{threads}},
          {"bytes_a_float", std::uint64_t{work.streams * sizeof(float)}},
          {"gb_s", spread_of(rates).median},
          {"plain_gb_s", spread_of(plain).median},
          {"ratio", ratio.median},
          {"ratio_min", ratio.least},
          {"ratio_max", ratio.most},
          {"clock_gb_s", spread_of(clock_rates).median},
          {"clock_ratio", spread_of(clock_ratios).median}};
}

}  // namespace

Result apply(const Options& options) {
  const auto works = all_work();
  Arrays arrays;
  const double seconds = options.seconds.value_or(kApplySeconds) / static_cast<double>(works.size() * kMostThreads);
  Result result;
  result.how = std::string("updates of 25,557,032 floats (vectors: ") + name_of(detected()) +
               "), in chunks of 1 MiB as a lane does it, in turns with a plain loop that reads and writes as many "
               "arrays on as many threads. Bytes are counted alike: every array read and every array written counts "
               "once (what a processor reads before it writes is not counted). gb_s by the threads' processor time, "
               "clock_gb_s by the clock; ratios to the plain loop. Medians, with the ratio's least and most.";
  for (unsigned threads = 1; threads <= kMostThreads; ++threads) {
    for (const auto& work : works) {
      std::vector<Compared> repetitions;
      for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
        std::fill(arrays.first.begin(), arrays.first.end(), 0.0F);
        std::fill(arrays.second.begin(), arrays.second.end(), 0.0F);
        repetitions.push_back(compare(work, arrays, threads, seconds));
      }
      result.rows.push_back(row_of(work, threads, repetitions));
    }
  }
  return result;
}

}  // namespace ballast::bench
