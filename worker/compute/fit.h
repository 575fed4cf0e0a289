// What fits what, refused by every backend in the same words.
//
// All throw std::invalid_argument naming what does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "worker/compute/backend.h"

namespace ballast {

void check_input(const Shape& shape);
// Between a tensor and so many floats in host memory.
void check_copy(const Shape& shape, std::size_t floats);

// The shape of the layer's output; its inputs and parameters fit.
Shape fit(const LayerTask& task);

void check_prediction(const Tensor& prediction);
// One class of each row, 0 <= label < classes; with `unlabelled` also -1. `rows` x `classes` are predicted.
void check_labels(std::span<const std::int32_t> labels, std::size_t rows, std::size_t classes, bool unlabelled = false);
// One token of each row, 0 <= token < vocabulary.
void check_tokens(std::span<const std::int32_t> tokens, std::size_t rows, std::size_t vocabulary);
// So many numbers; with `zero_or_one` no others. `outputs` are of each example.
void check_targets(std::span<const float> targets, std::size_t examples, std::size_t outputs, bool zero_or_one);

}  // namespace ballast
