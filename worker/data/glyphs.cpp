#include "worker/data/glyphs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/numeric/philox.h"
#include "worker/data/glyph_strokes.h"

namespace ballast {
namespace {

// The generator's own seed: the examples are the same in every job, as those of a published data set are.
constexpr std::uint64_t kSeed = 0x42616c6c617374;

// How far glyphs vary. Tuned so that 20,000 examples, in a few epochs of batch 128 with momentum 0.9, teach the
// 784-256-128-10 perceptron 95 to 97 % of the test split (rate 0.1) and LeNet-5 about 99 % (rate 0.02 to 0.05).
constexpr float kBend = 0.24F;       // reach of the bending field, of the glyph's box
constexpr float kMinHeight = 14.5F;  // pixels
constexpr float kMaxHeight = 20.5F;
constexpr float kMinAspect = 0.62F;  // width / height
constexpr float kMaxAspect = 0.95F;
constexpr float kShear = 0.25F;      // sideways for each unit of height, either way
constexpr float kHalfTurn = 0.13F;   // tangent of half the largest rotation: about 15 degrees either way
constexpr float kShift = 2.5F;       // pixels, either way, on each axis
constexpr float kMinRadius = 0.65F;  // of the pen, pixels
constexpr float kMaxRadius = 1.65F;
constexpr float kPressure = 0.5F;  // change of the radius across the box, relative
constexpr float kMinEdge = 0.9F;   // pixels over which the ink fades: the blur
constexpr float kMaxEdge = 1.8F;
constexpr float kMinInk = 0.7F;     // darkness
constexpr float kMaxNoise = 0.12F;  // of the full range, either way

constexpr int kPiecesPerSpan = 5;  // straight pieces between two points of a stroke
constexpr float kMiddle = static_cast<float>(kGlyphSide) / 2.0F;

// The draws of one glyph, in a fixed order.
class Draws {
 public:
  explicit Draws(const RandomKey& key) : stream_(key) {}
  float between(float low, float high) { return low + (high - low) * uniform_from(next()); }
  float either_way(float reach) { return between(-reach, reach); }
  std::uint32_t below(std::uint32_t bound) { return bounded_from(next(), bound); }

 private:
  std::uint32_t next() {
    if (used_ == block_.size()) {
      block_ = stream_.block(blocks_++);
      used_ = 0;
    }
    return block_[used_++];
  }

  RandomStream stream_;
  PhiloxBlock block_{};
  std::size_t used_ = block_.size();
  std::uint64_t blocks_ = 0;
};

// A smooth displacement over the glyph's box: a uniform cubic B-spline surface over a coarse lattice of random vectors.
class BendingField {
 public:
  explicit BendingField(Draws& draws) {
    for (GlyphPoint& vector : lattice_) {
      vector.x = draws.either_way(kBend);
      vector.y = draws.either_way(kBend);
    }
  }

  [[nodiscard]] GlyphPoint bend(GlyphPoint point) const {
    const Place column = place(point.x);
    const Place row = place(point.y);
    GlyphPoint bent = point;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        const GlyphPoint& vector = lattice_[(row.cell + i) * kLattice + column.cell + j];
        const float weight = row.weights[i] * column.weights[j];
        bent.x += weight * vector.x;
        bent.y += weight * vector.y;
      }
    }
    return bent;
  }

 private:
  static constexpr std::size_t kCells = 2;  // along each axis
  static constexpr std::size_t kLattice = kCells + 3;

  struct Place {
    std::size_t cell = 0;
    std::array<float, 4> weights{};
  };
  static Place place(float coordinate) {
    const float scaled = std::clamp(coordinate, 0.0F, 1.0F) * static_cast<float>(kCells);
    const std::size_t cell = scaled < 1.0F ? 0 : 1;
    const float t = scaled - static_cast<float>(cell);
    const float s = 1.0F - t;
    return {cell,
            {s * s * s / 6.0F, (3.0F * t * t * t - 6.0F * t * t + 4.0F) / 6.0F,
             (3.0F * s * s * s - 6.0F * s * s + 4.0F) / 6.0F, t * t * t / 6.0F}};
  }

  std::array<GlyphPoint, kLattice * kLattice> lattice_;
};

// From the glyph's box to pixels.
class Placement {
 public:
  explicit Placement(Draws& draws) {
    const float height = draws.between(kMinHeight, kMaxHeight);
    const float width = height * draws.between(kMinAspect, kMaxAspect);
    const float shear = draws.either_way(kShear) * height;
    const float half = draws.either_way(kHalfTurn);
    const float cosine = (1.0F - half * half) / (1.0F + half * half);  // of twice the arc tangent of `half`
    const float sine = 2.0F * half / (1.0F + half * half);
    xx_ = cosine * width;
    xy_ = cosine * shear - sine * height;
    yx_ = sine * width;
    yy_ = sine * shear + cosine * height;
    x_ = kMiddle + draws.either_way(kShift);
    y_ = kMiddle + draws.either_way(kShift);
  }

  [[nodiscard]] GlyphPoint to_pixels(GlyphPoint point) const {
    const float x = point.x - 0.5F;
    const float y = point.y - 0.5F;
    return {x_ + xx_ * x + xy_ * y, y_ + yx_ * x + yy_ * y};
  }

 private:
  float xx_ = 0;
  float xy_ = 0;
  float yx_ = 0;
  float yy_ = 0;
  float x_ = 0;
  float y_ = 0;
};

// The pen: its radius at a point of the box.
class Pen {
 public:
  explicit Pen(Draws& draws)
      : radius_(draws.between(kMinRadius, kMaxRadius)),
        across_(draws.either_way(kPressure)),
        down_(draws.either_way(kPressure)) {}
  [[nodiscard]] float radius(GlyphPoint point) const {
    return radius_ * (1.0F + across_ * (point.x - 0.5F) + down_ * (point.y - 0.5F));
  }

 private:
  float radius_;
  float across_;
  float down_;
};

// How deep each pixel lies within the ink: radius - distance to the nearest stroke, in pixels.
class Canvas {
 public:
  Canvas() { depth_.fill(-1e3F); }

  // A straight piece with round ends. Only pixels within `kReach` of the ink are touched.
  void draw(GlyphPoint from, GlyphPoint to, float radius) {
    const GlyphPoint along{to.x - from.x, to.y - from.y};
    const float length_squared = along.x * along.x + along.y * along.y;
    const float scale = length_squared > 0.0F ? 1.0F / length_squared : 0.0F;
    const float reach = radius + kReach;
    const std::size_t bottom = pixel_behind(std::max(from.y, to.y) + reach);
    const std::size_t right = pixel_behind(std::max(from.x, to.x) + reach);
    const std::size_t left = pixel_at(std::min(from.x, to.x) - reach);
    for (std::size_t row = pixel_at(std::min(from.y, to.y) - reach); row < bottom; ++row) {
      for (std::size_t column = left; column < right; ++column) {
        const float x = static_cast<float>(column) + 0.5F - from.x;
        const float y = static_cast<float>(row) + 0.5F - from.y;
        const float t = std::clamp((x * along.x + y * along.y) * scale, 0.0F, 1.0F);
        const float dx = x - t * along.x;
        const float dy = y - t * along.y;
        float& depth = depth_[row * kGlyphSide + column];
        depth = std::max(depth, radius - std::sqrt(dx * dx + dy * dy));
      }
    }
  }

  [[nodiscard]] float depth(std::size_t pixel) const { return depth_[pixel]; }

 private:
  static constexpr float kReach = kMaxEdge / 2.0F;

  static std::size_t pixel_at(float coordinate) {
    return static_cast<std::size_t>(std::clamp(coordinate, 0.0F, static_cast<float>(kGlyphSide)));
  }
  static std::size_t pixel_behind(float coordinate) {
    return std::min(pixel_at(std::max(coordinate, -1.0F) + 1.0F), kGlyphSide);
  }

  std::array<float, kGlyphPixels> depth_{};
};

// E. Catmull and R. Rom's spline through b and c, t from 0 to 1.
float spline(float a, float b, float c, float d, float t) {
  return b + 0.5F * t * (c - a + t * (2.0F * a - 5.0F * b + 4.0F * c - d + t * (3.0F * (b - c) + d - a)));
}

// A point before the first or behind the last, which a stroke's end needs: for a closed stroke the one across the seam,
// otherwise the reflection.
GlyphPoint beyond(GlyphPoint end, GlyphPoint neighbour, GlyphPoint other_end, GlyphPoint other_neighbour) {
  const bool closed = end.x == other_end.x && end.y == other_end.y;
  return closed ? other_neighbour : GlyphPoint{2.0F * end.x - neighbour.x, 2.0F * end.y - neighbour.y};
}

void draw_stroke(const GlyphStroke& stroke, const BendingField& field, const Placement& placement, const Pen& pen,
                 Canvas& canvas) {
  const auto points = stroke.points;
  const std::size_t last = points.size() - 1;
  GlyphPoint from = placement.to_pixels(field.bend(points[0]));
  for (std::size_t span = 0; span < last; ++span) {
    const GlyphPoint b = points[span];
    const GlyphPoint c = points[span + 1];
    const GlyphPoint a = span > 0 ? points[span - 1] : beyond(b, c, points[last], points[last - 1]);
    const GlyphPoint d = span + 2 <= last ? points[span + 2] : beyond(c, b, points[0], points[1]);
    for (int piece = 1; piece <= kPiecesPerSpan; ++piece) {
      const float t = static_cast<float>(piece) / static_cast<float>(kPiecesPerSpan);
      const GlyphPoint point{spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)};
      const GlyphPoint to = placement.to_pixels(field.bend(point));
      canvas.draw(from, to, pen.radius(point));
      from = to;
    }
  }
}

void ink(const Canvas& canvas, Draws& draws, std::span<std::uint8_t, kGlyphPixels> pixels) {
  const float darkness = draws.between(kMinInk, 1.0F);
  const float edge = draws.between(kMinEdge, kMaxEdge);
  const float noise = draws.between(0.0F, kMaxNoise);
  for (std::size_t i = 0; i < kGlyphPixels; ++i) {
    const float t = std::clamp(canvas.depth(i) / edge + 0.5F, 0.0F, 1.0F);
    const float grey = darkness * t * t * (3.0F - 2.0F * t) + draws.either_way(noise);
    const float scaled = std::clamp(grey, 0.0F, 1.0F) * 255.0F;
    const float rounded = scaled + 0.5F;  // once, to float: the glyphs' bytes hang on it
    pixels[i] = static_cast<std::uint8_t>(rounded);
  }
}

}  // namespace

std::uint32_t glyph_label(std::uint32_t index) { return index % 10; }

void draw_glyph(DataSplit split, std::uint32_t index, std::span<std::uint8_t, kGlyphPixels> pixels) {
  Draws draws({kSeed, Purpose::glyphs, index, split == DataSplit::train ? 0U : 1U});
  const auto shapes = glyph_shapes(glyph_label(index));
  const GlyphShape& shape = shapes[draws.below(static_cast<std::uint32_t>(shapes.size()))];
  const BendingField field(draws);
  const Placement placement(draws);
  const Pen pen(draws);
  Canvas canvas;
  for (const GlyphStroke& stroke : shape.strokes) {
    draw_stroke(stroke, field, placement, pen, canvas);
  }
  ink(canvas, draws, pixels);
}

}  // namespace ballast
