// One layer on one backend: forward and backward, from drawn values.
#pragma once

#include <string>
#include <vector>

#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/values.h"
#include "worker/compute/backend.h"

namespace ballast::layers {

// Of a case: floats, whatever their type.
struct DrawnValues {
  std::vector<Values> inputs;
  std::vector<std::vector<double>> parameters;  // variances are positive
  Values y_gradient;
};

DrawnValues draw_values(const LayerCase& drawn, Draw& draw);

// How the layer stands in a network.
struct Setting {
  std::string name;
  // Its inputs are outputs of convolutions, in layouts of the backend's choice.
  bool behind_convolutions = false;
  bool in_place = false;
  bool shared = false;            // its parameters' gradients are added to what is there
  bool without_gradient = false;  // of the first input
};

// Of row-major floats. Gradients that there are none of are empty.
struct Outcome {
  Shape shape;
  std::vector<float> y;
  std::vector<std::vector<float>> input_gradients;
  std::vector<std::vector<float>> parameter_gradients;
  bool untouched = true;  // what must not be written was not: arenas outside parameters, inputs that others read
};

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b);
bool same_bytes(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b);

// What a shared layer adds to: before its backward pass every parameter's gradient has this value.
inline constexpr float kBefore = 0.25F;

// Prepares the layer and runs it three times: with other values, and twice with these, throwing std::logic_error if the
// bytes differ. Throws what Backend::prepare throws.
Outcome run_layer(Backend& backend, const LayerCase& drawn, const DrawnValues& values, const Setting& setting);

}  // namespace ballast::layers
