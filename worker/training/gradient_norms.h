// Norms of what slots contribute, by group of layers, for whoever watches the training.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/arena/arena.h"

namespace ballast {

// Reads contributions and changes none. The thread that computes calls measure(); any other may read.
class GradientNorms {
 public:
  static constexpr std::size_t kMostGroups = 16;
  // Of the time of slots at most the so-manieth part is spent on measuring.
  static constexpr int kPart = 500;

  // `arena` outlives it.
  explicit GradientNorms(const Arena& arena);

  // A layer each (what a parameter's name has before its last dot), or, of more than kMostGroups layers, as many groups
  // of layers that follow each other, as alike in number as can be: "FIRST to LAST". State belongs to none.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }

  // A slot is computed, which took so long. `contribution`: the arena of what it contributes, whose norm times `scale`
  // is told. Most are not looked at.
  void computed(std::span<const float> contribution, double scale, std::chrono::nanoseconds took);

  // Of the slot that was looked at last; none yet: nothing.
  [[nodiscard]] std::optional<double> norm(std::size_t group) const;

 private:
  void measure(std::span<const float> contribution, double scale);

  const Arena& arena_;
  std::vector<std::string> groups_;
  std::vector<std::size_t> group_of_;   // by parameter; kMostGroups: none
  std::chrono::nanoseconds unspent_{};  // of slots, since what the last look has cost was made up for
  std::array<std::atomic<double>, kMostGroups> norms_{};
  std::atomic<bool> has_measured_ = false;
};

}  // namespace ballast
