// What fits what: the shapes that operations make of their inputs, and what every backend refuses in the same words.
//
// All throw std::invalid_argument naming what does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/arena/arena.h"
#include "worker/compute/backend.h"

namespace ballast {

void check_input(const Shape& shape);
// Between a tensor and so many floats in host memory.
void check_copy(const Shape& shape, std::size_t floats);

// The shape of the output.
Shape fit_conv2d(const Shape& x, const Conv2d& conv, const Extent& weights, const Extent& bias);
Shape fit_linear(const Shape& x, std::uint32_t units, const Extent& weights, const Extent& bias);
Shape fit_max_pool2d(const Shape& x, const MaxPool2d& pool);

void check_logits(const Tensor& logits);
void check_labels(std::span<const std::int32_t> labels, const Shape& logits);

}  // namespace ballast
