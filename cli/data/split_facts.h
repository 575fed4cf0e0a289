// What `ballast data describe` finds in a split of images.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/data/section_text.h"
#include "worker/data/class_files.h"

namespace ballast {

struct SplitFacts {
  std::vector<std::uint64_t> by_class;  // examples, corrupt ones among them
  std::vector<std::uint64_t> readable;  // of these
  std::vector<double> mean;             // by channel, of values from 0 to 1, over the examples that can be read
  std::vector<double> deviation;
  CorruptList corrupt;
  LeftAside aside = {};            // files that are no examples
  LeftAside::Kind no_images = {};  // corrupt examples whose names are none of images
};

// Sums over whole numbers from 0 to 255, hence exact in any order; the mean is their quotient in double, the deviation
// the root of the mean square less the mean's square.
class PixelSums {
 public:
  explicit PixelSums(std::uint32_t channels) : sums_(channels), squares_(channels) {}

  // One image: a plane for each channel, one behind the other.
  void add(std::span<const std::uint8_t> pixels);
  void tell(SplitFacts& facts) const;

 private:
  std::vector<std::uint64_t> sums_;  // by channel
  std::vector<std::uint64_t> squares_;
  std::uint64_t pixels_ = 0;
};

}  // namespace ballast
