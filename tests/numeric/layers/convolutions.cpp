#include "common/network/infer.h"
#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

// Calls visit(k, place) for each tap k of a window that begins at `first` and meets a place in 0 ... extent - 1.
template <typename Visit>
void for_each_tap(std::int64_t first, std::uint32_t taps, std::uint32_t dilation, std::uint32_t extent,
                  const Visit& visit) {
  for (std::uint32_t k = 0; k < taps; ++k) {
    const std::int64_t place = first + std::int64_t{k} * dilation;
    if (place >= 0 && place < std::int64_t{extent}) {
      visit(k, static_cast<std::size_t>(place));
    }
  }
}

std::int64_t first_place(std::size_t output, std::uint32_t stride, std::uint32_t padding) {
  return static_cast<std::int64_t>(output * stride) - padding;
}

// Groups for which both numbers of channels can be had: 1, as many as channels, or something between.
std::uint32_t draw_groups(Draw& draw, std::uint32_t in, std::uint32_t out) {
  std::uint32_t groups = draw.between(0, 1) == 0 ? 1 : draw.between(1, std::min(in, out));
  while (in % groups != 0 || out % groups != 0) {
    --groups;
  }
  return groups;
}

}  // namespace

Values output_of(const Conv2d& conv, const Given& given) {
  const Values& x = given.x();
  const std::vector<double>& weight = given.parameters[0];
  Values y(output_shape(conv, std::vector{x.shape}));
  const std::size_t inputs = x.shape.c / conv.groups;
  const std::size_t outputs = y.shape.c / conv.groups;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const std::size_t w = i % y.shape.w;
    const std::size_t h = i / y.shape.w % y.shape.h;
    const std::size_t c = i / (std::size_t{y.shape.w} * y.shape.h) % y.shape.c;
    const std::size_t row = i / y.shape.features();
    double sum = conv.bias ? given.parameters[1][c] : 0;
    for_each_tap(first_place(h, conv.stride.h, conv.padding.h), conv.kernel.h, conv.dilation.h, x.shape.h,
                 [&](std::size_t kh, std::size_t xh) {
                   for_each_tap(first_place(w, conv.stride.w, conv.padding.w), conv.kernel.w, conv.dilation.w,
                                x.shape.w, [&](std::size_t kw, std::size_t xw) {
                                  for (std::size_t k = 0; k < inputs; ++k) {
                                    sum += weight[((c * inputs + k) * conv.kernel.h + kh) * conv.kernel.w + kw] *
                                           x.at(row, c / outputs * inputs + k, xh, xw);
                                  }
                                });
                 });
    y.values[i] = sum;
  }
  return y;
}

LayerCase draw_conv2d(Draw& draw, std::uint32_t number) {
  const Shape x{draw.between(1, 3), draw_channels(draw), draw.between(3, 9), draw.between(3, 9), draw.between(1, 2)};
  Conv2d conv;
  conv.channels = draw_channels(draw);
  conv.groups = draw_groups(draw, x.c, conv.channels);
  conv.bias = draw.between(0, 3) != 0;
  conv.stride = {draw.between(1, 3), draw.between(1, 3)};
  conv.padding = {draw.between(0, 2), draw.between(0, 2)};
  conv.dilation = {draw.between(1, 2), draw.between(1, 2)};
  const auto most = [](std::uint32_t extent, std::uint32_t padding, std::uint32_t dilation) {
    return std::min(3U, (extent + 2 * padding - 1) / dilation + 1);
  };
  conv.kernel = {draw.between(1, most(x.h, conv.padding.h, conv.dilation.h)),
                 draw.between(1, most(x.w, conv.padding.w, conv.dilation.w))};
  if (number == 0) {  // of each channel alone
    conv.channels = x.c;
    conv.groups = x.c;
  }
  return {.layer = conv, .inputs = {x}};
}

Values output_of(const Conv1d& conv, const Given& given) {
  const Values& x = given.x();
  Values y(output_shape(conv, std::vector{x.shape}));
  const std::size_t inputs = x.shape.c / conv.groups;
  const std::size_t outputs = y.shape.c / conv.groups;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const std::size_t c = i % y.shape.c;
    const std::size_t step = i / y.shape.c % y.shape.steps;
    const std::size_t n = i / y.shape.c / y.shape.steps;
    double sum = conv.bias ? given.parameters[1][c] : 0;
    for_each_tap(first_place(step, conv.stride, conv.padding), conv.kernel, conv.dilation, given.length(n),
                 [&](std::size_t tap, std::size_t x_step) {
                   for (std::size_t k = 0; k < inputs; ++k) {
                     sum += given.parameters[0][(c * inputs + k) * conv.kernel + tap] *
                            x.at(n * x.shape.steps + x_step, c / outputs * inputs + k);
                   }
                 });
    y.values[i] = sum;
  }
  return y;
}

LayerCase draw_conv1d(Draw& draw, std::uint32_t number) {
  const Shape x{draw.between(1, 4), draw_channels(draw), 1, 1, draw.between(3, 12)};
  Conv1d conv;
  conv.channels = draw_channels(draw);
  conv.groups = draw_groups(draw, x.c, conv.channels);
  conv.bias = draw.between(0, 3) != 0;
  conv.stride = draw.between(1, 3);
  conv.padding = draw.between(0, 3);
  conv.dilation = draw.between(1, 3);
  conv.kernel = draw.between(1, std::min(4U, (x.steps + 2 * conv.padding - 1) / conv.dilation + 1));
  LayerCase drawn{.layer = conv, .inputs = {x}};
  if (number % 3 != 0) {
    drawn.lengths = draw_lengths(draw, x.n, x.steps);
  }
  return drawn;
}

// Each input value is spread over the outputs that its kernel reaches.
Values output_of(const TransposedConv2d& conv, const Given& given) {
  const Values& x = given.x();
  Values y(output_shape(conv, std::vector{x.shape}));
  const std::size_t inputs = x.shape.c / conv.groups;
  const std::size_t outputs = y.shape.c / conv.groups;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    y.values[i] = conv.bias ? given.parameters[1][i / (std::size_t{y.shape.h} * y.shape.w) % y.shape.c] : 0;
  }
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t w = i % x.shape.w;
    const std::size_t h = i / x.shape.w % x.shape.h;
    const std::size_t c = i / (std::size_t{x.shape.w} * x.shape.h) % x.shape.c;
    const std::size_t row = i / x.shape.features();
    for_each_tap(first_place(h, conv.stride.h, conv.padding.h), conv.kernel.h, 1, y.shape.h, [&](auto kh, auto yh) {
      for_each_tap(first_place(w, conv.stride.w, conv.padding.w), conv.kernel.w, 1, y.shape.w, [&](auto kw, auto yw) {
        for (std::size_t k = 0; k < outputs; ++k) {
          y.at(row, c / inputs * outputs + k, yh, yw) +=
              x.values[i] * given.parameters[0][((c * outputs + k) * conv.kernel.h + kh) * conv.kernel.w + kw];
        }
      });
    });
  }
  return y;
}

LayerCase draw_transposed_conv2d(Draw& draw, std::uint32_t /*number*/) {
  const Shape x{draw.between(1, 3), draw_channels(draw), draw.between(2, 6), draw.between(2, 6), draw.between(1, 2)};
  TransposedConv2d conv;
  conv.channels = draw_channels(draw);
  conv.groups = draw_groups(draw, x.c, conv.channels);
  conv.bias = draw.between(0, 3) != 0;
  conv.kernel = {draw.between(2, 4), draw.between(2, 4)};
  conv.stride = {draw.between(1, 3), draw.between(1, 3)};
  conv.padding = {draw.between(0, 1), draw.between(0, 1)};
  conv.output_padding = {draw.between(0, conv.stride.h - 1), draw.between(0, conv.stride.w - 1)};
  return {.layer = conv, .inputs = {x}};
}

}  // namespace ballast::layers
