// Loops of normalizations over channels, in layouts in which channels lie side by side. They serve groups as well as
// batches, and read x once for both moments. Sums have one order: pieces, which depend on the shape alone, in float,
// and then the pieces in double. Neither vector width nor threads change a bit, and what is not a number stays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast::cpu {

// A tensor as `runs` of `positions` x `lanes` floats behind each other; run i has lanes of its own channels.
struct Runs {
  std::size_t runs = 0;
  std::size_t positions = 0;
  std::size_t lanes = 0;

  // A piece is a range of a run's positions: some 4096 floats, which stay in the first cache.
  [[nodiscard]] std::size_t positions_of_piece() const;
  [[nodiscard]] std::size_t pieces_of_run() const;
  [[nodiscard]] std::size_t pieces() const { return runs * pieces_of_run(); }
  [[nodiscard]] std::size_t positions_of(std::size_t piece) const;
};

// For each piece and lane: the mean, and the sum of squares of differences from it. Both: pieces x lanes.
void moments_loop(const Runs& runs, const float* x, float* means, float* squares, std::uint32_t threads);

// What a loop reads for each lane of a run; where `sets` is smaller than the number of runs, run i has set i % sets.
// Each: sets x lanes.
struct NormLanes {
  std::size_t sets = 0;
  const float* mean = nullptr;
  const float* first = nullptr;
  const float* second = nullptr;
  const float* third = nullptr;
};

// y = (x - mean) * first + second.
void normalize_loop(const Runs& runs, const NormLanes& by, const float* x, float* y, std::uint32_t threads);

// For each piece and lane: the sum of y's gradient g, and of g * (x - mean). Both: pieces x lanes.
void norm_sums_loop(const Runs& runs, const NormLanes& by, const float* x, const float* y_gradient, float* sums,
                    float* products, std::uint32_t threads);

// x_gradient = g * first - (second + (x - mean) * third). In place if x_gradient == y_gradient.
void norm_backward_loop(const Runs& runs, const NormLanes& by, const float* x, const float* y_gradient,
                        float* x_gradient, std::uint32_t threads);

}  // namespace ballast::cpu
