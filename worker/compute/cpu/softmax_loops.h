// Softmax of rows of floats, in vectors. Not-a-number, or what exceeds all floats, makes the whole row not a number.
#pragma once

#include <cstddef>

namespace ballast::cpu {

// Turns the first n of a row's logits into probabilities.
void softmax_row(float* row, std::size_t n);

// Turns a row of gradients of probabilities into those of the logits, times `scale`.
void softmax_row_backward(const float* probabilities, float* gradient, std::size_t n, float scale);

// exponentials[i] = exp(x[i] - largest).
struct ExponentialSum {
  float largest = 0;
  double sum = 0;
};
ExponentialSum exponentials_of_row(const float* x, std::size_t n, float* exponentials);

// values[i] = values[i] * factor - less * (weights ? weights[i] : 1).
void scale_row(float* values, std::size_t n, float factor, float less, const float* weights);

}  // namespace ballast::cpu
