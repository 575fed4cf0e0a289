// The server's update against what memory allows.
#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/process_use.h"
#include "bench/spread.h"
#include "common/numeric/sgd.h"
#include "common/numeric/vector.h"

namespace ballast::bench {

namespace {

constexpr std::size_t kElements = 25'557'032;  // ResNet-50's; four arrays of them are far beyond any cache
constexpr std::size_t kChunk = (1U << 20U) / sizeof(float);
constexpr double kSeconds = 4;

struct Arrays {
  std::vector<float> weights = std::vector<float>(kElements, 0.5F);
  std::vector<float> gradient = std::vector<float>(kElements, 0.001F);
  std::vector<float> momentum = std::vector<float>(kElements, 0.0F);
  std::vector<float> next = std::vector<float>(kElements, 0.0F);
};

struct Work {
  const char* name;
  unsigned streams;  // arrays read plus arrays written
  std::function<void(Arrays&, std::size_t begin, std::size_t count)> run;
};

// A plain loop with as many streams as the update: three read, two written.
void stream_loop(const float* __restrict a, const float* __restrict b, float* __restrict c, float* __restrict d,
                 std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float sum = b[i] + c[i];
    c[i] = sum;
    d[i] = a[i] + sum;
  }
}

std::vector<Work> all_work() {
  const auto part = [](std::vector<float>& array, std::size_t begin, std::size_t count) {
    return std::span(array).subspan(begin, count);
  };
  return {
      {"sgd with momentum", 5,
       [part](Arrays& a, std::size_t begin, std::size_t count) {
         sgd_step(part(a.weights, begin, count), part(a.gradient, begin, count), part(a.momentum, begin, count),
                  part(a.next, begin, count), {0.01F, 0.9F, 0});
       }},
      {"plain loop, 3 read 2 written", 5,
       [](Arrays& a, std::size_t begin, std::size_t count) {
         stream_loop(a.weights.data() + begin, a.gradient.data() + begin, a.momentum.data() + begin,
                     a.next.data() + begin, count);
       }},
      {"sum of two contributions", 3,
       [](Arrays& a, std::size_t begin, std::size_t count) {
         add_into(a.next.data() + begin, a.gradient.data() + begin, count);
       }},
      {"memcpy", 2,
       [](Arrays& a, std::size_t begin, std::size_t count) {
         std::memcpy(a.next.data() + begin, a.weights.data() + begin, count * sizeof(float));
       }},
  };
}

// Bytes a second of processor time over whole passes: what other processes take does not count.
double rate_of(const Work& work, Arrays& arrays, double seconds) {
  const double begin = own_cpu_seconds();
  double used = 0;
  std::uint64_t passes = 0;
  while (used < seconds) {
    for (std::size_t at = 0; at < kElements; at += kChunk) {
      work.run(arrays, at, std::min(kChunk, kElements - at));
    }
    ++passes;
    used = own_cpu_seconds() - begin;
  }
  return static_cast<double>(passes * kElements * sizeof(float) * work.streams) / used;
}

}  // namespace

Result apply(const Options& options) {
  const auto works = all_work();
  Arrays arrays;
  const double seconds = options.seconds.value_or(kSeconds) / static_cast<double>(works.size());
  std::vector<std::vector<double>> rates(works.size());
  std::vector<std::vector<double>> ratios(works.size());
  for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      std::fill(arrays.momentum.begin(), arrays.momentum.end(), 0.0F);
      rates[i].push_back(rate_of(works[i], arrays, seconds) / 1e9);
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
      ratios[i].push_back(rates[i].back() / rates.back().back());
    }
  }
  Result result;
  result.how =
      "one thread over arrays of 25,557,032 floats, in pieces of 1 MiB as a lane does it, by the "
      "thread's processor time. Bytes are counted alike: "
      "every "
      "array read and every array written counts once (what a processor reads before it writes is not counted). "
      "Medians; "
      "the ratio to memcpy of the same repetition with its least and most.";
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto ratio = spread_of(ratios[i]);
    const auto rate = spread_of(rates[i]).median;
    result.rows.push_back({{"work", works[i].name},
                           {"gb_s", rate},
                           {"million_floats_s", rate * 1e3 / sizeof(float) / works[i].streams},
                           {"ratio_to_memcpy", ratio.median},
                           {"ratio_min", ratio.least},
                           {"ratio_max", ratio.most}});
  }
  return result;
}

}  // namespace ballast::bench
