#include "server/page/curve.h"

#include <cmath>
#include <limits>

namespace ballast {

void Curve::Point::take(const Point& other) {
  last = other.last;
  samples += other.samples;
  losses += other.losses;
  loss += other.loss;
  examples += other.examples;
  steps += other.steps;
}

Curve::Sample Curve::Point::mean() const {
  auto mean = last;
  const auto count = static_cast<double>(samples);
  mean.loss = losses == 0 ? std::numeric_limits<double>::quiet_NaN() : loss / static_cast<double>(losses);
  mean.examples_per_second = examples / count;
  mean.steps_per_second = steps / count;
  return mean;
}

void Curve::add(const Sample& sample) {
  const bool has_loss = std::isfinite(sample.loss);
  open_.take({sample, 1, has_loss ? std::uint64_t{1} : 0, has_loss ? sample.loss : 0, sample.examples_per_second,
              sample.steps_per_second});
  if (open_.samples < kSamples << halvings_) {
    return;
  }
  points_.push_back(open_);
  open_ = {};
  if (points_.size() == kPoints) {
    halve();
  }
}

void Curve::halve() {
  static_assert(kPoints % 2 == 0);
  for (std::size_t i = 0; i < points_.size() / 2; ++i) {
    auto both = points_[2 * i];
    both.take(points_[2 * i + 1]);
    points_[i] = both;
  }
  points_.resize(points_.size() / 2);
  ++halvings_;
}

std::vector<Curve::Sample> Curve::points(std::size_t from) const {
  std::vector<Sample> means;
  for (auto i = from; i < points_.size(); ++i) {
    means.push_back(points_[i].mean());
  }
  if (open_.samples > 0 && from <= points_.size()) {
    means.push_back(open_.mean());
  }
  return means;
}

}  // namespace ballast
