// One direction of a recurrent layer. What inputs bring to the gates is one product over all turns
// (kernels/recurrent.h); at each turn follow a product with the state and a kernel of our own over the gates. float32
// factors with bfloat16 as well.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "worker/compute/cuda/context.h"
#include "worker/compute/cuda/kernels/recurrent.h"
#include "worker/compute/cuda/memory.h"
#include "worker/compute/cuda/product.h"
#include "worker/compute/cuda/upload.h"

namespace ballast::cuda {

struct Cell {
  std::size_t gates;
  bool keeps_state_apart;  // gates need what the state brings apart from what the input brings
  bool has_c;              // beside h
  cudaError_t (*forward)(const CellTurn& turn, const CellBuffers& buffers, cudaStream_t stream);
  cudaError_t (*backward)(const CellTurn& turn, const CellBuffers& buffers, cudaStream_t stream);
};
inline constexpr Cell kLstmCell = {4, false, true, launch_lstm, launch_lstm_backward};
inline constexpr Cell kGruCell = {3, true, false, launch_gru, launch_gru_backward};

// The direction's part of the output: `units` columns of its steps, which are `stride` floats apart.
struct StepsOfOutput {
  float* y = nullptr;
  const float* y_gradient = nullptr;
  std::size_t stride = 0;
};

// More than 15 fields: what a cell keeps of all turns is a buffer for each, and two to go back with.
class RecurrentDirection {
 public:
  // Parameters: weight_ih, weight_hh, bias_ih, bias_hh. `x` is the shape of the input; `what` names the layer in
  // errors.
  RecurrentDirection(Context& context, const Cell& cell, std::size_t units, const Shape& x, const StepsOfOutput& output,
                     std::span<const ParameterPlace> parameters, bool backwards, std::string what);

  // Writes the steps of the output that are within their examples' lengths. backward reads the lengths again.
  void forward(const Lengths& lengths, const float* x);
  // Once for each forward.
  void backward(const Lengths& lengths);
  // After it: first the parameters', then the input's, which may be added to what is there.
  void write_parameter_gradients();
  void write_input_gradient(const Lengths& lengths, Into into, float* x_gradient);

 private:
  enum Part : std::size_t { kWeightIh, kWeightHh, kBiasIh, kBiasHh, kParts };

  [[nodiscard]] CellTurn turn_of(std::size_t turn) const;
  [[nodiscard]] CellBuffers buffers_of(std::size_t turn, const Lengths& lengths) const;
  void go_through_state(std::size_t turn) const;
  void go_back_through_state(std::size_t turn) const;

  [[nodiscard]] std::size_t width() const { return cell_.gates * units_; }  // of a row of gates
  [[nodiscard]] std::size_t rows() const { return turns_ * shape_.examples; }
  [[nodiscard]] RowMatrix weights(Part part) const;
  [[nodiscard]] ProductResult gradient_of(Part part) const;
  // Of the gates, or their gradients, those with respect to what the state brings.
  [[nodiscard]] float* of_state() const { return cell_.keeps_state_apart ? of_state_.data() : of_input_.data(); }

  Context& context_;
  std::string what_;
  const Cell& cell_;
  std::size_t units_;
  std::size_t features_;
  Turns shape_;
  StepsOfOutput output_;
  std::array<ParameterPlace, kParts> places_;
  std::size_t turns_ = 0;           // of the longest example
  DeviceBuffer<float> x_;           // packed; when nobody reads it any more, its gradient
  DeviceBuffer<float> of_input_;    // packed gates
  DeviceBuffer<float> of_state_;    // the same, of cells that keep it apart
  DeviceBuffer<float> h_;           // packed, after a turn of zeros
  DeviceBuffer<float> c_;           // the same, of cells that have it
  DeviceBuffer<float> h_gradient_;  // of one turn
  DeviceBuffer<float> c_gradient_;  // of one turn
};

}  // namespace ballast::cuda
