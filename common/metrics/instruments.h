// What is counted: plain atomics, so that neither counting nor being read makes anyone wait.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ballast {

// Thread-safe; only grows.
class Counter {
 public:
  void add(double amount = 1) { value_.fetch_add(amount, std::memory_order_relaxed); }
  // For totals that are counted elsewhere: takes over `total` if it is higher. One thread.
  void raise_to(double total) {
    if (total > value_.load(std::memory_order_relaxed)) {
      value_.store(total, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// Thread-safe.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// Values by upper bounds. Thread-safe.
class Histogram {
 public:
  // Spans of time, in seconds: these suit everything from one chunk's sum to one slow step.
  static constexpr std::array kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                         0.1,    0.25,    0.5,    1.0,   2.5,    5.0,   10.0, 30.0};
  // Numbers of updates: 0, and then by the bits that they have.
  static constexpr decltype(kBounds) kUpdateBounds = {0,   1,    3,    7,    15,   31,    63,    127,  255,
                                                      511, 1023, 2047, 4095, 8191, 16383, 32767, 65535};
  static constexpr std::size_t kBuckets = kBounds.size() + 1;  // the last: beyond every bound

  explicit Histogram(const decltype(kBounds)& bounds = kBounds) : bounds_(bounds) {}

  void observe(double value) {
    std::size_t bucket = 0;
    while (bucket < bounds_.size() && !(value <= bounds_[bucket])) {
      ++bucket;
    }
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  // For what is counted elsewhere. One thread.
  void take_over(std::size_t bucket, std::uint64_t count) { counts_[bucket].store(count, std::memory_order_relaxed); }
  void take_over_sum(double sum) { sum_.store(sum, std::memory_order_relaxed); }
  void observe_micros(std::uint64_t micros) { observe(static_cast<double>(micros) * 1e-6); }

  [[nodiscard]] std::uint64_t count(std::size_t bucket) const {
    return counts_[bucket].load(std::memory_order_relaxed);
  }
  [[nodiscard]] double sum() const { return sum_.load(std::memory_order_relaxed); }
  [[nodiscard]] const decltype(kBounds)& bounds() const { return bounds_; }

 private:
  const decltype(kBounds)& bounds_;
  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<double> sum_ = 0;
};

// Observes the time from its making to its end.
class ScopedTimer {
 public:
  explicit ScopedTimer(Histogram& histogram) : histogram_(histogram) {}
  ~ScopedTimer() {
    histogram_.observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  Histogram& histogram_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace ballast
