// Data sets of labelled images that are wholly in memory as 8-bit pixels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/network/shape.h"
#include "worker/data/dataset.h"
#include "worker/data/normalise.h"

namespace ballast {

// The labelled images of a split.
struct PixelSplit {
  std::vector<std::uint8_t> pixels;  // count x features, planes
  std::vector<std::uint8_t> labels;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(labels.size()); }
};

// Keeps the first `examples`: as many as the cluster counts steps by, without having read the data. Throws
// std::runtime_error if there are fewer: what was read is `where`, `key` asks for them.
void keep_first(PixelSplit& split, std::uint32_t examples, const std::string& key, const std::string& where);

// `kind` names the format in the digest, which is over all pixels and labels.
std::unique_ptr<Dataset> make_pixel_dataset(const std::string& kind, PixelSplit train, PixelSplit test,
                                            const ExampleShape& shape, Normalisation normalisation);

}  // namespace ballast
