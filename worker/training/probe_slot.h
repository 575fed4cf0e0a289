// Examples of any shape, drawn from a seed.
#pragma once

#include <cstdint>

#include "common/network/shape.h"
#include "worker/data/examples.h"

namespace ballast {

// Features are uniform in [0, 1), tokens uniform over the vocabulary; where lengths differ the first sequence is the
// longest possible, the others' are uniform; trees are as a random walk of shifts and reductions makes them. The class
// of example i is i modulo the classes, so for steps; several classes are 0 or 1, numbers in [0, 1). A function of its
// arguments alone.
SlotExamples probe_slot(const ExampleShape& shape, std::uint32_t examples, std::uint64_t seed);

}  // namespace ballast
