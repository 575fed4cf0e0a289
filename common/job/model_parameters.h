// The parameters of each model by name: what servers need to know of a model.
#pragma once

#include <vector>

#include "common/arena/parameter.h"
#include "common/job/spec.h"
#include "common/network/shape.h"

namespace ballast {

// The shape of the examples of a data set, known without reading it.
// mnist, glyphs: 1 x 28 x 28, 10 classes. cifar10: 3 x 32 x 32. idx (1 channel), images: as the job says. text:
// sequences of tokens, a class each. characters: sequences of tokens of one length, the next token of each step. trees:
// a class of each node. csv: the features of its columns. npy: as data.shape says. none: all zero. Throws
// std::invalid_argument for other names.
ExampleShape example_shape(const DataSpec& data);

// The parameters of a model: its network's, or those that the emulated one is told (tensors of two or more dimensions
// are weights, others biases or scales), for which `shape` does not matter. Throws std::invalid_argument with a
// sentence for a user: unknown model or preset, examples that do not fit the model.
std::vector<Parameter> declare_parameters(const ModelSpec& model, const ExampleShape& shape);

}  // namespace ballast
