// One direction of a recurrent layer over packed steps. What inputs bring to the gates is one product over all steps;
// at each step follow a product with the state and a loop of our own over the gates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "worker/compute/cpu/cell_loops.h"
#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/gemm.h"
#include "worker/compute/cpu/packed_steps.h"
#include "worker/compute/cpu/parameter_gradient.h"

namespace ballast::cpu {

struct Cell {
  std::size_t gates;
  bool keeps_state_apart;  // gates need what the state brings apart from what the input brings
  void (*forward)(const CellStep& step, std::uint32_t threads);
  void (*backward)(const CellStep& step, std::uint32_t threads);
};
inline constexpr Cell kLstmCell = {4, false, lstm_forward, lstm_backward};
inline constexpr Cell kGruCell = {3, true, gru_forward, gru_backward};

class RecurrentDirection {
 public:
  // Parameters: weight_ih, weight_hh, bias_ih, bias_hh. `x` is the shape of the input.
  RecurrentDirection(const Context& context, const Cell& cell, std::size_t units, const Shape& x,
                     std::span<const ParameterPlace> parameters, bool backwards);

  // Of packed inputs, which backward reads again.
  void forward(const PackedSteps& steps, const float* x);
  [[nodiscard]] const float* h() const { return h_.data(); }

  // Fill it with the gradient of h, packed; then call backward once, which spoils it.
  [[nodiscard]] float* h_gradient() { return h_gradient_.data(); }
  void backward(const PackedSteps& steps);
  // After it, in any order.
  void write_parameter_gradients(const PackedSteps& steps, const float* x);
  void write_input_gradient(const PackedSteps& steps, float* x_gradient, Into into) const;

 private:
  // A step, and the one whose state it goes on from.
  struct Place {
    std::size_t begin;
    std::size_t count;
    std::size_t previous_begin;
    std::size_t previous_count;  // of the rows, those that go on
  };

  [[nodiscard]] Place place(const PackedSteps& steps, std::size_t turn) const;
  [[nodiscard]] CellStep cell_step(const Place& at);
  void gather_previous(const PackedSteps& steps);
  [[nodiscard]] const float* weights(std::size_t parameter) const;
  // Of the gates' gradients, those with respect to what the state brings.
  [[nodiscard]] std::vector<float>& of_state() { return cell_.keeps_state_apart ? of_state_ : of_input_; }
  [[nodiscard]] std::size_t width() const { return cell_.gates * units_; }

  const Context& context_;
  const Cell& cell_;
  std::size_t units_;
  std::size_t features_;
  bool backwards_;
  std::vector<Extent> extents_;
  std::vector<ParameterGradient> gradients_;
  std::vector<float> of_input_;    // rows x gates x units
  std::vector<float> of_state_;    // the same, of cells that keep it apart
  std::vector<float> h_;           // rows x units
  std::vector<float> c_;           // rows x units
  std::vector<float> previous_h_;  // rows x units
  std::vector<float> h_gradient_;  // rows x units
  std::vector<float> c_gradient_;  // examples x units
};

}  // namespace ballast::cpu
