// Exact gradients of a few layers by plain loops over NCHW, in any scalar type: for shapes that finite differences of
// layers/reference.h would take too long for, and for whole networks (reference_network.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/network/infer.h"
#include "worker/compute/backend.h"

namespace ballast::reference {

template <typename T>
struct Tensor {
  explicit Tensor(const Shape& of = {}) : shape(of), values(of.elements()) {}

  T& at(std::size_t n, std::size_t c, std::size_t h, std::size_t w) { return values[index(n, c, h, w)]; }
  const T& at(std::size_t n, std::size_t c, std::size_t h, std::size_t w) const { return values[index(n, c, h, w)]; }
  [[nodiscard]] std::size_t index(std::size_t n, std::size_t c, std::size_t h, std::size_t w) const {
    return ((n * shape.c + c) * shape.h + h) * shape.w + w;
  }

  Shape shape;
  std::vector<T> values;
};

// Gradients of a layer with parameters.
template <typename T>
struct Gradients {
  Tensor<T> x;
  std::vector<T> weights;
  std::vector<T> bias;
};

inline Shape conv2d_shape(const Shape& x, const Conv2d& conv) { return output_shape(conv, std::span(&x, 1)); }

// Calls visit(row, output channel, output row and column, input channel, input row and column, index of the weight) for
// every product of a convolution.
template <typename Visit>
void for_each_product(const Shape& x, const Shape& y, const Conv2d& conv, const Visit& visit) {
  const auto inside = [](std::int64_t at, std::uint32_t extent) { return at >= 0 && at < std::int64_t{extent}; };
  const std::size_t inputs = x.c / conv.groups;
  const std::size_t outputs = y.c / conv.groups;
  for (std::size_t n = 0; n < y.rows(); ++n) {
    for (std::size_t o = 0; o < y.c; ++o) {
      for (std::size_t oh = 0; oh < y.h; ++oh) {
        for (std::size_t ow = 0; ow < y.w; ++ow) {
          for (std::size_t c = 0; c < inputs; ++c) {
            for (std::size_t kh = 0; kh < conv.kernel.h; ++kh) {
              for (std::size_t kw = 0; kw < conv.kernel.w; ++kw) {
                const auto h = static_cast<std::int64_t>(oh * conv.stride.h + kh * conv.dilation.h) - conv.padding.h;
                const auto w = static_cast<std::int64_t>(ow * conv.stride.w + kw * conv.dilation.w) - conv.padding.w;
                if (inside(h, x.h) && inside(w, x.w)) {
                  visit(n, o, oh, ow, o / outputs * inputs + c, static_cast<std::size_t>(h),
                        static_cast<std::size_t>(w), ((o * inputs + c) * conv.kernel.h + kh) * conv.kernel.w + kw);
                }
              }
            }
          }
        }
      }
    }
  }
}

template <typename T>
Tensor<T> conv2d(const Tensor<T>& x, const Conv2d& conv, std::span<const T> weights, std::span<const T> bias) {
  Tensor<T> y(conv2d_shape(x.shape, conv));
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    y.values[i] = conv.bias ? bias[i / (std::size_t{y.shape.h} * y.shape.w) % y.shape.c] : T(0);
  }
  for_each_product(x.shape, y.shape, conv,
                   [&](auto n, auto o, auto oh, auto ow, auto c, auto h, auto w, std::size_t weight) {
                     y.at(n, o, oh, ow) += weights[weight] * x.at(n, c, h, w);
                   });
  return y;
}

template <typename T>
Gradients<T> conv2d_backward(const Tensor<T>& x, const Conv2d& conv, std::span<const T> weights,
                             const Tensor<T>& y_gradient) {
  const Shape& y = y_gradient.shape;
  Gradients<T> gradients{Tensor<T>(x.shape), std::vector<T>(weights.size()), std::vector<T>(conv.channels)};
  for (std::size_t i = 0; i < y_gradient.values.size(); ++i) {
    gradients.bias[i / (std::size_t{y.h} * y.w) % y.c] += y_gradient.values[i];
  }
  for_each_product(x.shape, y, conv, [&](auto n, auto o, auto oh, auto ow, auto c, auto h, auto w, std::size_t weight) {
    gradients.weights[weight] += y_gradient.at(n, o, oh, ow) * x.at(n, c, h, w);
    gradients.x.at(n, c, h, w) += y_gradient.at(n, o, oh, ow) * weights[weight];
  });
  return gradients;
}

template <typename T>
Tensor<T> linear(const Tensor<T>& x, std::uint32_t units, std::span<const T> weights, std::span<const T> bias) {
  const std::size_t features = x.shape.features();
  Tensor<T> y({x.shape.n, units, 1, 1});
  for (std::size_t n = 0; n < x.shape.n; ++n) {
    for (std::size_t u = 0; u < units; ++u) {
      T sum = bias[u];
      for (std::size_t f = 0; f < features; ++f) {
        sum += weights[u * features + f] * x.values[n * features + f];
      }
      y.values[n * units + u] = sum;
    }
  }
  return y;
}

template <typename T>
Gradients<T> linear_backward(const Tensor<T>& x, std::span<const T> weights, const Tensor<T>& y_gradient) {
  const std::size_t features = x.shape.features();
  const std::size_t units = y_gradient.shape.c;
  Gradients<T> gradients{Tensor<T>(x.shape), std::vector<T>(weights.size()), std::vector<T>(units)};
  for (std::size_t n = 0; n < x.shape.n; ++n) {
    for (std::size_t u = 0; u < units; ++u) {
      const T gradient = y_gradient.values[n * units + u];
      gradients.bias[u] += gradient;
      for (std::size_t f = 0; f < features; ++f) {
        gradients.weights[u * features + f] += gradient * x.values[n * features + f];
        gradients.x.values[n * features + f] += gradient * weights[u * features + f];
      }
    }
  }
  return gradients;
}

template <typename T>
Tensor<T> relu(const Tensor<T>& x) {
  Tensor<T> y(x.shape);
  std::ranges::transform(x.values, y.values.begin(), [](T value) { return value > T(0) ? value : T(0); });
  return y;
}

template <typename T>
Tensor<T> relu_backward(const Tensor<T>& x, const Tensor<T>& y_gradient) {
  Tensor<T> gradient(x.shape);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    gradient.values[i] = x.values[i] > T(0) ? y_gradient.values[i] : T(0);
  }
  return gradient;
}

// The place in x of the first largest value of one window, which is never padding.
template <typename T>
std::size_t winner(const Tensor<T>& x, const MaxPool2d& pool, std::size_t n, std::size_t c, std::size_t oh,
                   std::size_t ow) {
  const std::size_t h = oh * pool.stride.h;
  const std::size_t w = ow * pool.stride.w;
  const auto inside = [](std::size_t at, std::size_t padding, std::size_t extent) {
    return at >= padding && at < extent + padding;
  };
  std::optional<std::size_t> best;
  for (std::size_t kh = 0; kh < pool.window.h; ++kh) {
    for (std::size_t kw = 0; kw < pool.window.w; ++kw) {
      if (inside(h + kh, pool.padding.h, x.shape.h) && inside(w + kw, pool.padding.w, x.shape.w)) {
        const std::size_t at = x.index(n, c, h + kh - pool.padding.h, w + kw - pool.padding.w);
        best = !best || x.values[at] > x.values[*best] ? at : *best;
      }
    }
  }
  return best.value();
}

inline Shape max_pool2d_shape(const Shape& x, const MaxPool2d& pool) { return output_shape(pool, std::span(&x, 1)); }

// The places of all winners, in the order of the output.
template <typename T>
std::vector<std::size_t> winners(const Tensor<T>& x, const MaxPool2d& pool) {
  std::vector<std::size_t> places;
  const Shape y = max_pool2d_shape(x.shape, pool);
  for (std::size_t n = 0; n < y.rows(); ++n) {
    for (std::size_t c = 0; c < y.c; ++c) {
      for (std::size_t oh = 0; oh < y.h; ++oh) {
        for (std::size_t ow = 0; ow < y.w; ++ow) {
          places.push_back(winner(x, pool, n, c, oh, ow));
        }
      }
    }
  }
  return places;
}

template <typename T>
Tensor<T> max_pool2d(const Tensor<T>& x, const MaxPool2d& pool) {
  Tensor<T> y(max_pool2d_shape(x.shape, pool));
  std::ranges::transform(winners(x, pool), y.values.begin(), [&](std::size_t place) { return x.values[place]; });
  return y;
}

template <typename T>
Tensor<T> max_pool2d_backward(const Tensor<T>& x, const MaxPool2d& pool, const Tensor<T>& y_gradient) {
  Tensor<T> gradient(x.shape);
  const std::vector<std::size_t> places = winners(x, pool);
  for (std::size_t i = 0; i < places.size(); ++i) {
    gradient.values[places[i]] += y_gradient.values[i];
  }
  return gradient;
}

// The sum of the losses over the examples.
template <typename T>
T softmax_cross_entropy(const Tensor<T>& logits, std::span<const std::int32_t> labels) {
  const std::size_t classes = logits.shape.features();
  T loss = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    T total = 0;
    for (std::size_t j = 0; j < classes; ++j) {
      total += std::exp(logits.values[n * classes + j]);
    }
    loss += std::log(total) - logits.values[n * classes + static_cast<std::size_t>(labels[n])];
  }
  return loss;
}

template <typename T>
Tensor<T> softmax_cross_entropy_backward(const Tensor<T>& logits, std::span<const std::int32_t> labels, T scale) {
  const std::size_t classes = logits.shape.features();
  Tensor<T> gradient(logits.shape);
  for (std::size_t n = 0; n < labels.size(); ++n) {
    T total = 0;
    for (std::size_t j = 0; j < classes; ++j) {
      total += std::exp(logits.values[n * classes + j]);
    }
    for (std::size_t j = 0; j < classes; ++j) {
      const T right = static_cast<std::size_t>(labels[n]) == j ? 1 : 0;
      gradient.values[n * classes + j] = scale * (std::exp(logits.values[n * classes + j]) / total - right);
    }
  }
  return gradient;
}

}  // namespace ballast::reference
