// Random changes of training images, as pure functions of (seed, epoch, example). Images are planes of floats, one a
// channel, as models are fed them: normalised.
#pragma once

#include <cstdint>
#include <span>

#include "common/job/spec.h"
#include "common/network/shape.h"
#include "worker/data/affine.h"
#include "worker/data/colour.h"
#include "worker/data/normalise.h"

namespace ballast {

struct Shift {
  std::int32_t right = 0;
  std::int32_t down = 0;
};

// Each direction uniform in [-most, most].
Shift draw_shift(std::uint64_t seed, std::uint64_t epoch, std::uint32_t example, std::uint32_t most);

// `to` becomes `from` (channels x height x width, equal sizes, not overlapping) moved by `shift`; what comes in from
// outside repeats the edge.
void shift_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, Shift shift);

// As shift_image, but what comes in from outside is 0: a window cut at random from an image padded with zeros.
void crop_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, Shift shift);

// How one example is changed.
struct Augmentation {
  Motion motion;  // its shift is in whole pixels
  Colour colour;
  Shift crop;
};

// Of the stream (seed, Purpose::augment, epoch, example): draws 0 and 1 are the shift, as in draw_shift, then the angle
// (2), shear (3), zoom (4), flip (5, below the part of examples that are
// mirrored), brightness (6), contrast (7), saturation (8) and the crop (9 and
// 10). Each is uniform in [-most, most], or around 1; what the job does not ask for is neutral.
Augmentation draw_augmentation(std::uint64_t seed, std::uint64_t epoch, std::uint32_t example, const AugmentSpec& spec);

// Whether a job changes its training images at all.
bool augments(const AugmentSpec& spec);

// Changes `image` as drawn for the example: moved (by whole pixels only if the job asks for a shift alone, or else in
// one resampling), then its colours, then cropped. `scratch` is as large as the image.
void augment_image(const Augmentation& augmentation, const AugmentSpec& spec, const ExampleShape& shape,
                   const Normalisation& normalisation, std::span<float> image, std::span<float> scratch);

}  // namespace ballast
