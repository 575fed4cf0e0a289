// What recurrent cells compute at one step beside products of matrices, element by element.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast::cpu {

// One step of some rows. Each row of a matrix has `units` values for each gate, or just `units`.
struct CellStep {
  std::size_t rows = 0;
  std::size_t units = 0;
  std::size_t previous_rows = 0;  // the first of the rows; the others begin with this step, with states of zero
  const float* bias_ih = nullptr;
  const float* bias_hh = nullptr;
  float* of_input = nullptr;          // gates: W_ih x; later their values, and the gradients of their sums
  float* of_state = nullptr;          // gates: W_hh h, of a GRU; later the gradients of it
  const float* previous_h = nullptr;  // previous_rows
  const float* previous_c = nullptr;  // previous_rows
  float* h = nullptr;
  float* c = nullptr;
  const float* h_gradient = nullptr;
  float* previous_h_gradient = nullptr;  // previous_rows; added to
  float* c_gradient = nullptr;           // of c; becomes that of the previous c
};

// Gates i, f, g, o. Before forward, of_input has W_hh h as well; after it the gates' values; after backward the
// gradients of their sums.
void lstm_forward(const CellStep& step, std::uint32_t threads);
void lstm_backward(const CellStep& step, std::uint32_t threads);

// Gates r, z, n. After forward of_input has their values, and of_state the third's sum; after backward both have the
// gradients of theirs. Adds what the state brings by itself to previous_h_gradient.
void gru_forward(const CellStep& step, std::uint32_t threads);
void gru_backward(const CellStep& step, std::uint32_t threads);

// sums[j] = the sum of a matrix's column, in the order of its rows, which are `stride` floats apart.
void sum_columns(const float* matrix, std::size_t rows, std::size_t columns, std::size_t stride, float* sums,
                 std::uint32_t threads);

}  // namespace ballast::cpu
