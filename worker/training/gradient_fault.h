// Gradients gone wrong on demand, so that tests can see what a job does about them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/arena/arena.h"
#include "protocol/ids.h"
#include "worker/models/model.h"

namespace ballast {

// The first element of a parameter's gradient in one slot of one step becomes `value`.
struct GradientFault {
  float value = 0;
  Step step = 0;
  Slot slot = 0;
  std::size_t parameter = 0;  // index in the model
};

// "KIND@STEP:SLOT:PARAMETER", as many as wanted with commas between, for example "nan@3:1:fc1.weight". KIND is nan, inf
// or huge: the largest finite float, of which the sum of two slots overflows. Empty text: none. Throws
// std::runtime_error naming the part that is wrong and what it may be.
std::vector<GradientFault> parse_gradient_faults(std::string_view text, const Arena& arena, Slot slots);

// The model with these faults; itself if there are none.
std::unique_ptr<Model> with_gradient_faults(std::unique_ptr<Model> model, const Arena& arena,
                                            std::vector<GradientFault> faults);

// With the faults of the environment's BALLAST_FAULT, which every process of a test inherits: a slot goes wrong the
// same way whoever computes it.
std::unique_ptr<Model> with_gradient_faults(std::unique_ptr<Model> model, const Arena& arena, Slot slots);

}  // namespace ballast
