// A job's loss and speed over its whole life, in a bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/ids.h"

namespace ballast {

// Samples come in at a regular pace. So many after one another make a point; when there are kPoints, two neighbours
// become one and a point has twice as many samples from then on, so that the points span all that ever came. Pure.
class Curve {
 public:
  static constexpr std::size_t kPoints = 1024;
  static constexpr std::uint64_t kSamples = 4;  // of a point, at first

  struct Sample {
    Micros at = 0;
    Step step = 0;
    double loss = 0;  // NaN: not known
    double examples_per_second = 0;
    double steps_per_second = 0;
  };

  void add(const Sample& sample);

  // Means over its samples, the loss over those that have one; the moment and the step are the last sample's.
  // The last point may still change, all of them when halvings() does.
  [[nodiscard]] std::vector<Sample> points(std::size_t from = 0) const;
  [[nodiscard]] std::size_t size() const { return points_.size() + (open_.samples > 0 ? 1 : 0); }
  [[nodiscard]] std::uint64_t halvings() const { return halvings_; }

 private:
  struct Point {
    Sample last;  // but for its means
    std::uint64_t samples = 0;
    std::uint64_t losses = 0;  // samples that have one
    double loss = 0;           // sums
    double examples = 0;
    double steps = 0;

    void take(const Point& other);
    [[nodiscard]] Sample mean() const;
  };
  void halve();

  std::vector<Point> points_;  // that are whole
  Point open_;
  std::uint64_t halvings_ = 0;
};

}  // namespace ballast
