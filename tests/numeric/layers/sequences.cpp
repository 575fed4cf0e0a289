// Layers over steps without states: embeddings, pooling and attention.
#include <algorithm>
#include <cmath>

#include "common/network/infer.h"
#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

double pooled(const StepPool& pool, const Values& x, std::size_t first_row, std::size_t length, std::size_t feature) {
  const std::size_t features = x.shape.features();
  const auto at = [&](std::size_t step) { return x.values[(first_row + step) * features + feature]; };
  switch (pool.kind) {
    case StepPool::Kind::first:
      return at(0);
    case StepPool::Kind::last:
      return at(length - 1);
    default:
      break;
  }
  double sum = 0;
  double largest = -HUGE_VAL;
  for (std::size_t step = 0; step < length; ++step) {
    sum += at(step);
    largest = std::isnan(at(step)) || at(step) > largest ? at(step) : largest;
  }
  return pool.kind == StepPool::Kind::max ? largest : sum / static_cast<double>(length);
}

// The weights of the keys that one query sees.
std::vector<double> attention_weights(const Attention& attention, const Given& given, std::size_t query,
                                      std::size_t head) {
  const Shape& shape = given.x().shape;
  const std::size_t example = query / shape.steps;
  const std::size_t channels = shape.c / attention.heads;
  std::size_t keys = given.length(example);
  if (attention.causal) {
    keys = std::min<std::size_t>(keys, query % shape.steps + 1);
  }
  std::vector<double> weights(keys);
  double total = 0;
  for (std::size_t key = 0; key < keys; ++key) {
    double product = 0;
    for (std::size_t c = head * channels; c < (head + 1) * channels; ++c) {
      product += given.inputs[0].at(query, c) * given.inputs[1].at(example * shape.steps + key, c);
    }
    weights[key] = std::exp(product / std::sqrt(static_cast<double>(channels)));
    total += weights[key];
  }
  std::ranges::for_each(weights, [&](double& weight) { weight /= total; });
  return weights;
}

// Every other one with lengths of its own.
std::vector<std::uint32_t> some_lengths(Draw& draw, std::uint32_t number, const Shape& shape) {
  return number % 2 == 0 ? std::vector<std::uint32_t>() : draw_lengths(draw, shape.n, shape.steps);
}

}  // namespace

Values output_of(const Embedding& embedding, const Given& given) {
  const Shape& shape = given.x().shape;
  Values y(output_shape(embedding, std::vector{shape}));
  for (std::size_t row = 0; row < shape.rows(); ++row) {
    const auto token = static_cast<std::size_t>(given.pass.batch.tokens[row]);
    for (std::size_t u = 0; u < embedding.units && row % shape.steps < given.length(row / shape.steps); ++u) {
      y.at(row, u) = given.parameters[0][token * embedding.units + u];
    }
  }
  return y;
}

Values output_of(const PositionEmbedding& /*embedding*/, const Given& given) {
  Values y = given.x();
  for (std::size_t row = 0; row < y.shape.rows(); ++row) {
    for (std::size_t c = 0; c < y.shape.c; ++c) {
      y.at(row, c) += given.parameters[0][row % y.shape.steps * y.shape.c + c];
    }
  }
  return y;
}

Values output_of(const StepPool& pool, const Given& given) {
  const Values& x = given.x();
  const std::size_t features = x.shape.features();
  Values y(output_shape(pool, std::vector{x.shape}));
  for (std::size_t n = 0; n < x.shape.n; ++n) {
    for (std::size_t feature = 0; feature < features; ++feature) {
      y.values[n * features + feature] = pooled(pool, x, n * x.shape.steps, given.length(n), feature);
    }
  }
  return y;
}

Values output_of(const Attention& attention, const Given& given) {
  const Shape& shape = given.x().shape;
  const std::size_t channels = shape.c / attention.heads;
  Values y(shape);
  for (std::size_t query = 0; query < shape.rows(); ++query) {
    const std::size_t first_row = query - query % shape.steps;
    for (std::size_t head = 0; head < attention.heads; ++head) {
      const auto weights = attention_weights(attention, given, query, head);
      for (std::size_t c = head * channels; c < (head + 1) * channels; ++c) {
        for (std::size_t key = 0; key < weights.size(); ++key) {
          y.at(query, c) += weights[key] * given.inputs[2].at(first_row + key, c);
        }
      }
    }
  }
  return y;
}

LayerCase draw_embedding(Draw& draw, std::uint32_t number) {
  const Shape x{draw.between(1, 5), 1, 1, 1, draw.between(1, 9)};
  const std::uint32_t vocabulary = draw.between(1, 12);
  LayerCase drawn{.layer = Embedding{vocabulary, draw.between(1, 40)}, .inputs = {x}};
  drawn.lengths = some_lengths(draw, number, x);
  drawn.tokens = draw.labels(x.rows(), vocabulary);
  return drawn;
}

LayerCase draw_position_embedding(Draw& draw, std::uint32_t number) {
  const Shape x{draw.between(1, 70), draw_channels(draw), 1, 1, draw.between(1, 9)};
  LayerCase drawn{.layer = PositionEmbedding{}, .inputs = {x}};
  drawn.lengths = some_lengths(draw, number, x);
  return drawn;
}

LayerCase draw_step_pool(Draw& draw, std::uint32_t number) {
  const std::uint32_t side = draw.between(1, 3);
  const Shape x{draw.between(1, 5), draw_channels(draw), side, draw.between(1, side), draw.between(1, 9)};
  constexpr StepPool::Kind kKinds[] = {StepPool::Kind::average, StepPool::Kind::max, StepPool::Kind::first,
                                       StepPool::Kind::last};
  LayerCase drawn{.layer = StepPool{kKinds[number % 4]}, .inputs = {x}, .values = Inputs::distinct};
  drawn.lengths = some_lengths(draw, draw.between(0, 2), x);
  return drawn;
}

// Some longer than what is computed at once.
LayerCase draw_attention(Draw& draw, std::uint32_t number) {
  const std::uint32_t heads = number % 3 == 0 ? 1 : draw.between(1, 4);
  const bool is_long = number % 8 == 5;
  const std::uint32_t steps = is_long ? draw.between(65, 140) : draw.between(1, 12);
  const Shape x{is_long ? 1 : draw.between(1, 3), heads * draw.between(1, is_long ? 3 : 12), 1, 1, steps};
  LayerCase drawn{.layer = Attention{heads, draw.between(0, 1) == 1}, .inputs = {x, x, x}};
  drawn.lengths = some_lengths(draw, number, x);
  return drawn;
}

}  // namespace ballast::layers
