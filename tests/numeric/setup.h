// A model with drawn weights and examples, for tests of whole models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/arena/initial.h"
#include "tests/numeric/draw_examples.h"
#include "worker/models/model.h"

namespace ballast {

struct Setup {
  Setup(ModelSpec model_spec, const ExampleShape& example_shape)
      : spec(std::move(model_spec)), shape(example_shape), arena(lay_out(declare_parameters(spec, shape))) {
    weights.resize(arena.elements);
    for (std::uint32_t i = 0; i < arena.parameters.size(); ++i) {
      Initial initial = arena.parameters[i].initial;
      // Biases that are zero would hide their part in the result.
      initial = initial.kind == Initial::Kind::zero ? Initial{Initial::Kind::uniform, 0.1F} : initial;
      const auto [offset, elements] = arena.extents[i];
      fill_initial(std::span(weights).subspan(offset, elements), initial, 7, i, 0);
    }
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  [[nodiscard]] std::unique_ptr<Model> make() const { return make_model(spec, shape, arena, backend); }
  // The gradients of one slot, in an arena that began as `before` everywhere.
  std::vector<float> gradients(Model& model, const SlotTask& task, const Batch& batch, float before = 0) const {
    std::vector<float> result(arena.elements, before);
    model.train(task, batch, weights, result, [](std::size_t) {});
    return result;
  }

  ModelSpec spec;
  ExampleShape shape;
  MakeBackend backend = on_cpu(1);
  Arena arena;
  std::vector<float> weights;
};

inline ModelSpec model_named(const std::string& name) {
  ModelSpec spec;
  spec.name = name;
  return spec;
}

inline ModelSpec small_mlp() {
  ModelSpec spec = model_named("mlp");
  spec.hidden = {32, 16};
  return spec;
}

inline ModelSpec small_emulated(const std::string& gradient) {
  ModelSpec spec = model_named("emulated");
  spec.parameters = {{"a", {300, 200}}, {"b", {200}}, {"c", {7, 3}}};
  spec.gradient = gradient;
  return spec;
}

constexpr ExampleShape kImages{1, 28, 28, 10};

}  // namespace ballast
