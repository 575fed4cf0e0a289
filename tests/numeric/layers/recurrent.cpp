// Layers with states: LSTM, GRU and the tree LSTM.
#include <cmath>

#include "common/network/infer.h"
#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

using Vector = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Row `row` of weights times x, and its bias.
double affine(const Vector& weights, const Vector& bias, std::size_t row, const Vector& x) {
  double sum = bias[row];
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += weights[row * x.size() + i] * x[i];
  }
  return sum;
}

struct State {
  Vector h;
  Vector c;
};

// Weights of one direction.
struct Direction {
  const Vector& weight_ih;
  const Vector& weight_hh;
  const Vector& bias_ih;
  const Vector& bias_hh;
};

State next(const Lstm& lstm, const Direction& by, const Vector& x, const State& state) {
  State after = state;
  for (std::size_t u = 0; u < lstm.units; ++u) {
    const auto sum = [&](std::size_t gate) {
      const std::size_t row = gate * lstm.units + u;
      return affine(by.weight_ih, by.bias_ih, row, x) + affine(by.weight_hh, by.bias_hh, row, state.h);
    };
    after.c[u] = sigmoid(sum(1)) * state.c[u] + sigmoid(sum(0)) * std::tanh(sum(2));
    after.h[u] = sigmoid(sum(3)) * std::tanh(after.c[u]);
  }
  return after;
}

State next(const Gru& gru, const Direction& by, const Vector& x, const State& state) {
  State after = state;
  for (std::size_t u = 0; u < gru.units; ++u) {
    const auto of_x = [&](std::size_t gate) { return affine(by.weight_ih, by.bias_ih, gate * gru.units + u, x); };
    const auto of_h = [&](std::size_t gate) { return affine(by.weight_hh, by.bias_hh, gate * gru.units + u, state.h); };
    const double r = sigmoid(of_x(0) + of_h(0));
    const double z = sigmoid(of_x(1) + of_h(1));
    const double n = std::tanh(of_x(2) + r * of_h(2));
    after.h[u] = (1 - z) * n + z * state.h[u];
  }
  return after;
}

Vector row_of(const Values& x, std::size_t row) {
  const auto first = x.values.begin() + static_cast<std::ptrdiff_t>(row * x.shape.c);
  return {first, first + x.shape.c};
}

template <typename Recurrent>
void run_direction(const Recurrent& layer, const Given& given, std::size_t direction, Values& y) {
  const auto& p = given.parameters;
  const Direction by{p[4 * direction], p[4 * direction + 1], p[4 * direction + 2], p[4 * direction + 3]};
  for (std::size_t n = 0; n < y.shape.n; ++n) {
    State state{Vector(layer.units), Vector(layer.units)};
    const std::size_t length = given.length(n);
    for (std::size_t turn = 0; turn < length; ++turn) {
      const std::size_t row = n * y.shape.steps + (direction == 0 ? turn : length - 1 - turn);
      state = next(layer, by, row_of(given.x(), row), state);
      for (std::size_t u = 0; u < layer.units; ++u) {
        y.at(row, direction * layer.units + u) = state.h[u];
      }
    }
  }
}

template <typename Recurrent>
Values run_recurrent(const Recurrent& layer, const Given& given) {
  Values y(output_shape(layer, std::vector{given.x().shape}));
  run_direction(layer, given, 0, y);
  if (layer.both_directions) {
    run_direction(layer, given, 1, y);
  }
  return y;
}

State leaf(const TreeLstm& lstm, const Given& given, std::size_t row) {
  const Vector x = row_of(given.x(), row);
  State state{Vector(lstm.units), Vector(lstm.units)};
  for (std::size_t u = 0; u < lstm.units; ++u) {
    const auto sum = [&](std::size_t gate) {
      return affine(given.parameters[0], given.parameters[1], gate * lstm.units + u, x);
    };
    state.c[u] = sigmoid(sum(0)) * std::tanh(sum(2));
    state.h[u] = sigmoid(sum(1)) * std::tanh(state.c[u]);
  }
  return state;
}

State inner(const TreeLstm& lstm, const Given& given, const State& left, const State& right) {
  Vector both = left.h;
  both.insert(both.end(), right.h.begin(), right.h.end());
  State state{Vector(lstm.units), Vector(lstm.units)};
  for (std::size_t u = 0; u < lstm.units; ++u) {
    const auto sum = [&](std::size_t gate) {
      return affine(given.parameters[2], given.parameters[3], gate * lstm.units + u, both);
    };
    state.c[u] = sigmoid(sum(0)) * std::tanh(sum(4)) + sigmoid(sum(1)) * left.c[u] + sigmoid(sum(2)) * right.c[u];
    state.h[u] = sigmoid(sum(3)) * std::tanh(state.c[u]);
  }
  return state;
}

// One case has more gates than one piece of a product; others have one unit, one step or one feature.
template <typename Recurrent>
LayerCase draw_recurrent(Draw& draw, std::uint32_t number) {
  const bool is_wide = number == 1;
  const Shape x{is_wide ? 2 : draw.between(1, 6), draw_channels(draw), 1, 1, is_wide ? 3 : draw.between(1, 8)};
  const std::uint32_t units = is_wide ? 100 : number % 5 == 0 ? 1 : draw.between(1, 20);
  LayerCase drawn{.layer = Recurrent{units, draw.between(0, 1) == 1}, .inputs = {x}};
  if (number % 3 != 0) {
    drawn.lengths = draw_lengths(draw, x.n, x.steps);
  }
  return drawn;
}

// A tree of so many leaves, children first.
std::vector<std::int32_t> draw_tree(Draw& draw, std::uint32_t leaves) {
  std::vector<std::int32_t> children;
  std::vector<std::int32_t> without_parent;
  while (leaves > 0 || without_parent.size() > 1) {
    const auto node = static_cast<std::int32_t>(children.size() / 2);
    if (without_parent.size() > 1 && (leaves == 0 || draw.between(0, 1) == 0)) {
      const auto right = without_parent.back();
      without_parent.pop_back();
      children.insert(children.end(), {without_parent.back(), right});
      without_parent.back() = node;
    } else {
      children.insert(children.end(), {-1, -1});
      without_parent.push_back(node);
      --leaves;
    }
  }
  return children;
}

}  // namespace

Values output_of(const Lstm& lstm, const Given& given) { return run_recurrent(lstm, given); }
Values output_of(const Gru& gru, const Given& given) { return run_recurrent(gru, given); }

Values output_of(const TreeLstm& lstm, const Given& given) {
  Values y(output_shape(lstm, std::vector{given.x().shape}));
  for (std::size_t n = 0; n < y.shape.n; ++n) {
    std::vector<State> states;
    for (std::size_t node = 0; node < given.length(n); ++node) {
      const std::size_t row = n * y.shape.steps + node;
      const auto* const children = &given.pass.batch.children[2 * row];
      states.push_back(children[0] < 0 ? leaf(lstm, given, row)
                                       : inner(lstm, given, states[static_cast<std::size_t>(children[0])],
                                               states[static_cast<std::size_t>(children[1])]));
      for (std::size_t u = 0; u < lstm.units; ++u) {
        y.at(row, u) = states.back().h[u];
      }
    }
  }
  return y;
}

LayerCase draw_lstm(Draw& draw, std::uint32_t number) { return draw_recurrent<Lstm>(draw, number); }
LayerCase draw_gru(Draw& draw, std::uint32_t number) { return draw_recurrent<Gru>(draw, number); }

// The first are leaves alone.
LayerCase draw_tree_lstm(Draw& draw, std::uint32_t number) {
  const std::uint32_t n = draw.between(1, 5);
  std::vector<std::vector<std::int32_t>> trees(n);
  Shape x{n, draw_channels(draw)};
  for (auto& tree : trees) {
    tree = draw_tree(draw, number == 0 ? 1 : draw.between(1, 8));
    x.steps = std::max(x.steps, static_cast<std::uint32_t>(tree.size() / 2));
  }
  LayerCase drawn{.layer = TreeLstm{number % 5 == 1 ? 1 : draw.between(1, 20)}, .inputs = {x}};
  constexpr std::int32_t kUnread = 1000;
  for (auto& tree : trees) {
    drawn.lengths.push_back(static_cast<std::uint32_t>(tree.size() / 2));
    tree.resize(std::size_t{2} * x.steps, kUnread);
    drawn.children.insert(drawn.children.end(), tree.begin(), tree.end());
  }
  return drawn;
}

}  // namespace ballast::layers
