// The networks, each as a short function over a tape.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/compute/tape.h"

namespace ballast {

// fc1 - relu - ... - fcN: one layer for each entry of `hidden` and one for the classes.
void record_mlp(Tape& tape, const std::vector<std::uint32_t>& hidden, std::uint32_t classes);

// See lenet5.cpp.
void record_lenet5(Tape& tape, std::uint32_t classes);

}  // namespace ballast
