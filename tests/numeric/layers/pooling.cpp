#include <cmath>

#include "common/network/infer.h"
#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

// Calls visit(value) for each value of the window of output (h, w) that is no padding.
template <typename Pool, typename Visit>
void for_each_in_window(const Pool& pool, const Values& x, std::size_t row, std::size_t c, std::size_t h, std::size_t w,
                        const Visit& visit) {
  for (std::size_t kh = 0; kh < pool.window.h; ++kh) {
    for (std::size_t kw = 0; kw < pool.window.w; ++kw) {
      const std::size_t at_h = h * pool.stride.h + kh;
      const std::size_t at_w = w * pool.stride.w + kw;
      if (at_h >= pool.padding.h && at_h < x.shape.h + pool.padding.h && at_w >= pool.padding.w &&
          at_w < x.shape.w + pool.padding.w) {
        visit(x.at(row, c, at_h - pool.padding.h, at_w - pool.padding.w));
      }
    }
  }
}

// Calls fill(row, c, h, w) for each output and keeps what it returns.
template <typename Fill>
Values filled(const Shape& shape, const Fill& fill) {
  Values y(shape);
  for (std::size_t row = 0; row < shape.rows(); ++row) {
    for (std::size_t c = 0; c < shape.c; ++c) {
      for (std::size_t h = 0; h < shape.h; ++h) {
        for (std::size_t w = 0; w < shape.w; ++w) {
          y.at(row, c, h, w) = fill(row, c, h, w);
        }
      }
    }
  }
  return y;
}

// Of a pooling with windows at most as large as the input, whatever the padding.
template <typename Pool>
LayerCase draw_pool(Draw& draw, Inputs values) {
  const Shape x{draw.between(1, 3), draw_channels(draw), draw.between(4, 9), draw.between(4, 9), draw.between(1, 2)};
  Pool pool;
  pool.window = {draw.between(1, 4), draw.between(1, 4)};
  pool.stride = {draw.between(1, 5), draw.between(1, 3)};
  pool.padding = {draw.between(0, pool.window.h / 2), draw.between(0, pool.window.w / 2)};
  return {.layer = pool, .inputs = {x}, .values = values};
}

Shape draw_planes(Draw& draw) {
  return {draw.between(1, 3), draw_channels(draw), draw.between(1, 9), draw.between(1, 9), draw.between(1, 2)};
}

// Not-a-number is larger than everything.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

Values output_of(const MaxPool2d& pool, const Given& given) {
  const Values& x = given.x();
  return filled(output_shape(pool, std::vector{x.shape}), [&](auto row, auto c, auto h, auto w) {
    double largest = -HUGE_VAL;
    for_each_in_window(pool, x, row, c, h, w, [&](double value) { largest = larger(largest, value); });
    return largest;
  });
}

Values output_of(const AveragePool2d& pool, const Given& given) {
  const Values& x = given.x();
  return filled(output_shape(pool, std::vector{x.shape}), [&](auto row, auto c, auto h, auto w) {
    double sum = 0;
    std::size_t counted = 0;
    for_each_in_window(pool, x, row, c, h, w, [&](double value) {
      sum += value;
      ++counted;
    });
    return sum / static_cast<double>(pool.count_padding ? std::size_t{pool.window.h} * pool.window.w : counted);
  });
}

Values output_of(const GlobalPool2d& pool, const Given& given) {
  const Values& x = given.x();
  return filled(output_shape(pool, std::vector{x.shape}), [&](auto row, auto c, auto /*h*/, auto /*w*/) {
    double sum = 0;
    double largest = -HUGE_VAL;
    for (std::size_t h = 0; h < x.shape.h; ++h) {
      for (std::size_t w = 0; w < x.shape.w; ++w) {
        sum += x.at(row, c, h, w);
        largest = larger(largest, x.at(row, c, h, w));
      }
    }
    return pool.kind == GlobalPool2d::Kind::max ? largest : sum / (x.shape.h * x.shape.w);
  });
}

LayerCase draw_max_pool2d(Draw& draw, std::uint32_t /*number*/) { return draw_pool<MaxPool2d>(draw, Inputs::distinct); }

LayerCase draw_average_pool2d(Draw& draw, std::uint32_t /*number*/) {
  LayerCase drawn = draw_pool<AveragePool2d>(draw, Inputs::any);
  std::get<AveragePool2d>(drawn.layer).count_padding = draw.between(0, 1) == 1;
  return drawn;
}

LayerCase draw_global_average_pool2d(Draw& draw, std::uint32_t /*number*/) {
  return {.layer = GlobalPool2d{GlobalPool2d::Kind::average}, .inputs = {draw_planes(draw)}};
}

LayerCase draw_global_max_pool2d(Draw& draw, std::uint32_t /*number*/) {
  return {.layer = GlobalPool2d{GlobalPool2d::Kind::max}, .inputs = {draw_planes(draw)}, .values = Inputs::distinct};
}

}  // namespace ballast::layers
