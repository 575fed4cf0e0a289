#include "worker/data/augment.h"

#include <algorithm>
#include <optional>

#include "common/numeric/philox.h"

namespace ballast {
namespace {

// Draws of a stream by what they are for: a part of every job's bits.
enum Draw : std::uint8_t {
  shift_right,
  shift_down,
  angle,
  shear,
  zoom,
  flip,
  brightness,
  contrast,
  saturation,
  crop_right,
  crop_down
};

std::int32_t draw_whole(const RandomStream& stream, Draw index, std::uint32_t most) {
  return static_cast<std::int32_t>(stream.bounded(index, 2 * most + 1)) - static_cast<std::int32_t>(most);
}

double draw_around(const RandomStream& stream, Draw index, double centre, std::optional<double> most) {
  return centre + most.value_or(0) * (2.0 * static_cast<double>(stream.uniform(index)) - 1.0);
}

bool is_asked(std::optional<double> most) { return most.value_or(0) > 0; }

bool moves_by_fractions(const AugmentSpec& spec) {
  return is_asked(spec.rotation) || is_asked(spec.shear) || is_asked(spec.zoom) || is_asked(spec.flip);
}

bool changes_colours(const AugmentSpec& spec) {
  return is_asked(spec.brightness) || is_asked(spec.contrast) || is_asked(spec.saturation);
}

}  // namespace

Shift draw_shift(std::uint64_t seed, std::uint64_t epoch, std::uint32_t example, std::uint32_t most) {
  const RandomStream stream({seed, Purpose::augment, epoch, example});
  return {draw_whole(stream, shift_right, most), draw_whole(stream, shift_down, most)};
}

void shift_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, Shift shift) {
  const auto height = static_cast<std::int32_t>(shape.height);
  const auto width = static_cast<std::int32_t>(shape.width);
  std::size_t at = 0;
  for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
    const auto plane = from.subspan(std::size_t{channel} * shape.height * shape.width);
    for (std::int32_t y = 0; y < height; ++y) {
      const auto row = plane.subspan(static_cast<std::size_t>(std::clamp(y - shift.down, 0, height - 1)) * shape.width);
      for (std::int32_t x = 0; x < width; ++x) {
        to[at++] = row[static_cast<std::size_t>(std::clamp(x - shift.right, 0, width - 1))];
      }
    }
  }
}

void crop_image(std::span<const float> from, std::span<float> to, const ExampleShape& shape, Shift shift) {
  const auto height = static_cast<std::int32_t>(shape.height);
  const auto width = static_cast<std::int32_t>(shape.width);
  const auto within = [](std::int32_t at, std::int32_t size) { return at >= 0 && at < size; };
  std::size_t at = 0;
  for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
    const auto* plane = from.data() + std::size_t{channel} * shape.height * shape.width;
    for (std::int32_t y = 0; y < height; ++y) {
      const auto from_y = y - shift.down;
      for (std::int32_t x = 0; x < width; ++x) {
        const auto from_x = x - shift.right;
        to[at++] = within(from_y, height) && within(from_x, width) ? plane[from_y * width + from_x] : 0.0F;
      }
    }
  }
}

Augmentation draw_augmentation(std::uint64_t seed, std::uint64_t epoch, std::uint32_t example,
                               const AugmentSpec& spec) {
  const RandomStream stream({seed, Purpose::augment, epoch, example});
  Augmentation drawn;
  drawn.motion.right = draw_whole(stream, shift_right, spec.shift);
  drawn.motion.down = draw_whole(stream, shift_down, spec.shift);
  drawn.motion.degrees = draw_around(stream, angle, 0, spec.rotation);
  drawn.motion.shear = draw_around(stream, shear, 0, spec.shear);
  drawn.motion.scale = draw_around(stream, zoom, 1, spec.zoom);
  drawn.motion.flip = static_cast<double>(stream.uniform(flip)) < spec.flip.value_or(0);
  drawn.colour.brightness = static_cast<float>(draw_around(stream, brightness, 1, spec.brightness));
  drawn.colour.contrast = static_cast<float>(draw_around(stream, contrast, 1, spec.contrast));
  drawn.colour.saturation = static_cast<float>(draw_around(stream, saturation, 1, spec.saturation));
  drawn.crop = {draw_whole(stream, crop_right, spec.crop.value_or(0)),
                draw_whole(stream, crop_down, spec.crop.value_or(0))};
  return drawn;
}

bool augments(const AugmentSpec& spec) {
  return spec.shift > 0 || spec.crop.value_or(0) > 0 || moves_by_fractions(spec) || changes_colours(spec);
}

void augment_image(const Augmentation& augmentation, const AugmentSpec& spec, const ExampleShape& shape,
                   const Normalisation& normalisation, std::span<float> image, std::span<float> scratch) {
  if (moves_by_fractions(spec)) {
    std::ranges::copy(image, scratch.begin());
    move_image(scratch, image, shape, augmentation.motion);
  } else if (spec.shift > 0) {
    std::ranges::copy(image, scratch.begin());
    shift_image(scratch, image, shape, {augmentation.motion.right, augmentation.motion.down});
  }
  if (changes_colours(spec)) {
    change_colours(image, shape, augmentation.colour, normalisation);
  }
  if (spec.crop.value_or(0) > 0) {
    std::ranges::copy(image, scratch.begin());
    crop_image(scratch, image, shape, augmentation.crop);
  }
}

}  // namespace ballast
