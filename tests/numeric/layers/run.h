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
  bool shared = false;            // a layer like it, further on in the network, has the same parameters
  bool without_gradient = false;  // of the first input
};

// Of row-major floats. Gradients that there are none of are empty.
struct Outcome {
  Shape shape;
  std::vector<float> y;
  std::vector<std::vector<float>> input_gradients;
  std::vector<std::vector<float>> parameter_gradients;  // where two layers share parameters: half of their sum
  bool untouched = true;  // what must not be written was not: arenas outside parameters, inputs that others read
};

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b);
bool same_bytes(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b);

// Prepares the layer and runs it three times: with other values, and twice with these, throwing std::logic_error if the
// bytes differ. Throws what Backend::prepare throws.
Outcome run_layer(Backend& backend, const LayerCase& drawn, const DrawnValues& values, const Setting& setting);

}  // namespace ballast::layers
