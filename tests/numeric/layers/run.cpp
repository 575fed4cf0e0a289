#include "tests/numeric/layers/run.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "common/network/infer.h"

namespace ballast::layers {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<double> distinct_values(std::size_t count, Draw& draw) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<double>(i) + 0.25;  // none is 0, whatever the count
    values[i] = static_cast<float>(2 * place / static_cast<double>(count) - 1);
  }
  for (std::size_t i = count; i-- > 1;) {
    std::swap(values[i], values[draw.between(0, static_cast<std::uint32_t>(i))]);
  }
  return values;
}

// Parameters in arenas of their own, each where it may begin in every arena, with floats between that nobody may write.
class Arenas {
 public:
  explicit Arenas(const DrawnValues& values) {
    std::size_t end = kGap;
    for (const auto& parameter : values.parameters) {
      places_.push_back({end, parameter.size()});
      end = (end + parameter.size() + kGap) / kGap * kGap + kGap;
    }
    weights_.assign(end, kNan);
    gradients_.assign(end, kNan);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      std::ranges::copy(to_float(values.parameters[i]), begin(weights_, i));
    }
  }

  [[nodiscard]] std::vector<ParameterPlace> places(bool adds) const {
    std::vector<ParameterPlace> places;
    for (const Extent& extent : places_) {
      places.push_back({extent, adds});
    }
    return places;
  }
  [[nodiscard]] const std::vector<Extent>& extents() const { return places_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }
  [[nodiscard]] std::span<float> gradients() { return gradients_; }

  std::vector<float> gradient(std::size_t i) {
    const auto first = begin(gradients_, i);
    return {first, first + static_cast<std::ptrdiff_t>(places_[i].elements)};
  }
  [[nodiscard]] bool is_rest_untouched() const {
    std::vector<bool> inside(gradients_.size());
    for (const auto& [offset, elements] : places_) {
      std::fill_n(inside.begin() + static_cast<std::ptrdiff_t>(offset), elements, true);
    }
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      if (!inside[i] && !std::isnan(gradients_[i])) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kGap = kArenaAlignment / sizeof(float);

  [[nodiscard]] std::vector<float>::iterator begin(std::vector<float>& arena, std::size_t i) const {
    return arena.begin() + static_cast<std::ptrdiff_t>(places_[i].offset);
  }

  std::vector<Extent> places_;
  std::vector<float> weights_;
  std::vector<float> gradients_;
};

// The layer's inputs, and what they need.
class InputTensors {
 public:
  InputTensors(Backend& backend, const LayerCase& drawn, const Setting& setting) : backend_(backend) {
    for (const Shape& shape : drawn.inputs) {
      const bool with_gradient = drawn.tokens.empty() && !(setting.without_gradient && tensors_.empty());
      tensors_.push_back(setting.behind_convolutions ? convolved(shape) : plain(shape, with_gradient));
    }
  }

  [[nodiscard]] std::span<Tensor* const> tensors() const { return tensors_; }

  void write(const std::vector<Values>& values, double factor) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      auto scaled = values[i].values;
      std::ranges::for_each(scaled, [&](double& value) { value *= factor; });
      backend_.write(*tensors_[i], to_float(scaled));
      if (tensors_[i]->with_gradient()) {
        backend_.write_gradient(*tensors_[i], std::vector<float>(scaled.size(), kNan));
      }
    }
  }

  [[nodiscard]] bool hold(const std::vector<Values>& values) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      std::vector<float> held(values[i].values.size());
      backend_.read(*tensors_[i], held);
      const auto written = to_float(values[i].values);
      if (std::memcmp(held.data(), written.data(), held.size() * sizeof(float)) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  Tensor* plain(const Shape& shape, bool with_gradient) {
    plain_.push_back(backend_.input(shape, with_gradient));
    return plain_.back().get();
  }

  // The convolution never runs: its output is written. By its own input the cpu chooses blocks, padded if need be, or
  // channels innermost.
  Tensor* convolved(const Shape& shape) {
    Shape from = shape;
    from.c = shape.c % 2 == 0 ? 16 : 6;
    const std::vector<Tensor*> input = {plain(from, false)};
    Conv2d conv;
    conv.channels = shape.c;
    conv.bias = false;
    const Layer layer = conv;
    const std::vector<ParameterPlace> place = {{{0, std::uint64_t{shape.c} * from.c}}};
    convolutions_.push_back(backend_.prepare({layer, input, place}));
    return convolutions_.back().output.get();
  }

  Backend& backend_;
  std::vector<std::unique_ptr<Tensor>> plain_;
  std::vector<Prepared> convolutions_;
  std::vector<Tensor*> tensors_;
};

class LayerRun {
 public:
  LayerRun(Backend& backend, const LayerCase& drawn, const DrawnValues& values, const Setting& setting)
      : backend_(backend),
        drawn_(drawn),
        values_(values),
        setting_(setting),
        pass_(pass_of(drawn)),
        inputs_(backend, drawn, setting) {
    const Arenas arenas(values);
    prepared_ = prepare(arenas.places(setting.shared));
    if (setting.shared) {
      later_ = prepare(arenas.places(false));
    }
  }

  Outcome run(double factor) {
    Arenas arenas(values_);
    backend_.bind_weights(arenas.weights());
    backend_.bind_gradients(arenas.gradients());
    backend_.begin(pass_);
    inputs_.write(values_.inputs, factor);
    prepared_.operation->forward();
    Outcome outcome;
    outcome.shape = prepared_.output->shape();
    outcome.y.resize(outcome.shape.elements());
    backend_.read(*prepared_.output, outcome.y);
    if (drawn_.training) {
      run_backward(factor, arenas, outcome);
    }
    outcome.untouched =
        arenas.is_rest_untouched() && (setting_.in_place || factor != 1 || inputs_.hold(values_.inputs));
    return outcome;
  }

 private:
  Prepared prepare(const std::vector<ParameterPlace>& places) {
    return backend_.prepare({drawn_.layer, inputs_.tensors(), places, setting_.in_place, drawn_.number});
  }

  void run_backward(double factor, Arenas& arenas, Outcome& outcome) {
    if (later_) {
      later_->operation->forward();
      go_back_to_parameters(*later_, factor);
    }
    go_back_to_parameters(prepared_, factor);
    std::size_t on_their_way = 0;
    for (const Extent& extent : arenas.extents()) {
      on_their_way += backend_.deliver(extent) ? 0 : 1;
    }
    const auto with_gradient = [](const Tensor* input) { return input->with_gradient(); };
    if (std::ranges::any_of(inputs_.tensors(), with_gradient)) {
      prepared_.operation->backward_input();
    }
    for (; on_their_way > 0; --on_their_way) {
      backend_.await_delivery();
    }
    for (std::size_t i = 0; i < arenas.extents().size(); ++i) {
      outcome.parameter_gradients.push_back(arenas.gradient(i));
      std::ranges::for_each(outcome.parameter_gradients.back(), [&](float& value) { value *= later_ ? 0.5F : 1.0F; });
    }
    for (const Tensor* input : inputs_.tensors()) {
      outcome.input_gradients.emplace_back(input->with_gradient() ? input->shape().elements() : 0);
      if (input->with_gradient()) {
        backend_.read_gradient(*input, outcome.input_gradients.back());
      }
    }
  }

  void go_back_to_parameters(const Prepared& prepared, double factor) {
    if (prepared.output->with_gradient()) {
      auto y_gradient = to_float(values_.y_gradient.values);
      std::ranges::for_each(y_gradient, [&](float& value) { value *= static_cast<float>(factor); });
      backend_.write_gradient(*prepared.output, y_gradient);
    }
    prepared.operation->backward_parameters();
  }

  Backend& backend_;
  const LayerCase& drawn_;
  const DrawnValues& values_;
  const Setting& setting_;
  Pass pass_;
  InputTensors inputs_;
  Prepared prepared_;
  std::optional<Prepared> later_;  // what the parameters are shared with
};

}  // namespace

DrawnValues draw_values(const LayerCase& drawn, Draw& draw) {
  DrawnValues values;
  for (const Shape& shape : drawn.inputs) {
    Values input(shape);
    input.values = drawn.values == Inputs::distinct ? distinct_values(shape.elements(), draw)
                                                    : draw.values<double>(shape.elements());
    values.inputs.push_back(std::move(input));
  }
  for (const Parameter& parameter : parameters_of(drawn.layer, drawn.inputs)) {
    auto drawn_parameter = draw.values<double>(parameter.elements());
    if (parameter.name == "running_var") {
      std::ranges::for_each(drawn_parameter, [](double& value) { value = std::abs(value) + 0.125; });
    }
    values.parameters.push_back(to_double(to_float(drawn_parameter)));
  }
  values.y_gradient = Values(output_shape(drawn.layer, drawn.inputs));
  values.y_gradient.values = draw.values<double>(values.y_gradient.values.size());
  return values;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool same_bytes(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) { return same_bytes(one, other); });
}

Outcome run_layer(Backend& backend, const LayerCase& drawn, const DrawnValues& values, const Setting& setting) {
  LayerRun run(backend, drawn, values, setting);
  run.run(-1.5);
  Outcome first = run.run(1);
  const Outcome second = run.run(1);
  if (!same_bytes(first.y, second.y) || !same_bytes(first.input_gradients, second.input_gradients) ||
      !same_bytes(first.parameter_gradients, second.parameter_gradients)) {
    throw std::logic_error("two runs gave different bytes");
  }
  return first;
}

}  // namespace ballast::layers
