#include "worker/compute/cuda/kernels/recurrent.h"

#include "worker/compute/cuda/kernels/cells.h"
#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

// The row of an example's turn, which is below its length, among all steps of all examples.
__device__ std::size_t row_of(const Turns& s, std::size_t example, std::size_t turn, std::size_t length) {
  return example * s.steps + (s.backwards ? length - 1 - turn : turn);
}

__global__ void gather_turns(Turns s, std::size_t turns, std::size_t columns, const std::uint32_t* lengths,
                             const float* x, float* packed) {
  for (std::size_t i = first_element(); i < turns * s.examples * columns; i += all_threads()) {
    const std::size_t example = i / columns % s.examples;
    const std::size_t turn = i / columns / s.examples;
    const std::size_t length = lengths[example];
    packed[i] = turn < length ? x[row_of(s, example, turn, length) * columns + i % columns] : 0.0F;
  }
}

__global__ void scatter_turns(Turns s, std::size_t columns, const std::uint32_t* lengths, const float* packed,
                              bool adds, float* x) {
  for (std::size_t i = first_element(); i < s.examples * s.steps * columns; i += all_threads()) {
    const std::size_t example = i / columns / s.steps;
    const std::size_t step = i / columns % s.steps;
    const std::size_t length = lengths[example];
    if (step < length) {
      const std::size_t turn = s.backwards ? length - 1 - step : step;
      const float value = packed[(turn * s.examples + example) * columns + i % columns];
      x[i] = adds ? x[i] + value : value;
    } else if (!adds) {
      x[i] = 0.0F;
    }
  }
}

// One thread for each unit of each example, as in all that follow.
__global__ void lstm(CellTurn s, const std::uint32_t* lengths, const float* bias_ih, const float* bias_hh,
                     float* of_input, const float* previous_c, float* h, float* c, float* y) {
  const std::size_t n = s.units;
  for (std::size_t i = first_element(); i < s.shape.examples * n; i += all_threads()) {
    const std::size_t example = i / n;
    const std::size_t unit = i % n;
    const std::size_t length = lengths[example];
    if (s.turn >= length) {
      h[i] = 0.0F;
      c[i] = 0.0F;
      continue;
    }
    float* const gates = of_input + example * 4 * n + unit;
    const float* const ih = bias_ih + unit;
    const float* const hh = bias_hh + unit;
    const float in = sigmoid_of(gates[0] + (ih[0] + hh[0]));
    const float forget = sigmoid_of(gates[n] + (ih[n] + hh[n]));
    const float candidate = tanhf(gates[2 * n] + (ih[2 * n] + hh[2 * n]));
    const float out = sigmoid_of(gates[3 * n] + (ih[3 * n] + hh[3 * n]));
    gates[0] = in;
    gates[n] = forget;
    gates[2 * n] = candidate;
    gates[3 * n] = out;
    c[i] = forget * previous_c[i] + in * candidate;
    h[i] = out * tanhf(c[i]);
    y[row_of(s.shape, example, s.turn, length) * s.y_stride + unit] = h[i];
  }
}

__global__ void lstm_backward(CellTurn s, const std::uint32_t* lengths, float* of_input, const float* previous_c,
                              const float* c, const float* y_gradient, const float* h_gradient, float* c_gradient) {
  const std::size_t n = s.units;
  for (std::size_t i = first_element(); i < s.shape.examples * n; i += all_threads()) {
    const std::size_t example = i / n;
    const std::size_t unit = i % n;
    const std::size_t length = lengths[example];
    float* const gates = of_input + example * 4 * n + unit;
    if (s.turn >= length) {
      for (std::size_t gate = 0; gate < 4; ++gate) {
        gates[gate * n] = 0.0F;
      }
      c_gradient[i] = 0.0F;
      continue;
    }
    const float in = gates[0];
    const float forget = gates[n];
    const float candidate = gates[2 * n];
    const float out = gates[3 * n];
    const float shown = tanhf(c[i]);
    const float dh =
        y_gradient[row_of(s.shape, example, s.turn, length) * s.y_stride + unit] + (s.is_last ? 0.0F : h_gradient[i]);
    const float dc = (s.is_last ? 0.0F : c_gradient[i]) + dh * out * (1.0F - shown * shown);
    gates[0] = dc * candidate * (in * (1.0F - in));
    gates[n] = dc * previous_c[i] * (forget * (1.0F - forget));
    gates[2 * n] = dc * in * (1.0F - candidate * candidate);
    gates[3 * n] = dh * shown * (out * (1.0F - out));
    c_gradient[i] = dc * forget;
  }
}

__global__ void gru(CellTurn s, const std::uint32_t* lengths, const float* bias_ih, const float* bias_hh,
                    float* of_input, float* of_state, const float* previous_h, float* h, float* y) {
  const std::size_t n = s.units;
  for (std::size_t i = first_element(); i < s.shape.examples * n; i += all_threads()) {
    const std::size_t example = i / n;
    const std::size_t unit = i % n;
    const std::size_t length = lengths[example];
    if (s.turn >= length) {
      h[i] = 0.0F;
      continue;
    }
    float* const input = of_input + example * 3 * n + unit;
    float* const state = of_state + example * 3 * n + unit;
    const float* const ih = bias_ih + unit;
    const float* const hh = bias_hh + unit;
    const float reset = sigmoid_of((input[0] + ih[0]) + (state[0] + hh[0]));
    const float keep = sigmoid_of((input[n] + ih[n]) + (state[n] + hh[n]));
    const float recalled = state[2 * n] + hh[2 * n];
    const float candidate = tanhf((input[2 * n] + ih[2 * n]) + reset * recalled);
    input[0] = reset;
    input[n] = keep;
    input[2 * n] = candidate;
    state[2 * n] = recalled;
    h[i] = candidate + keep * (previous_h[i] - candidate);
    y[row_of(s.shape, example, s.turn, length) * s.y_stride + unit] = h[i];
  }
}

__global__ void gru_backward(CellTurn s, const std::uint32_t* lengths, float* of_input, float* of_state,
                             const float* previous_h, const float* y_gradient, float* h_gradient) {
  const std::size_t n = s.units;
  for (std::size_t i = first_element(); i < s.shape.examples * n; i += all_threads()) {
    const std::size_t example = i / n;
    const std::size_t unit = i % n;
    const std::size_t length = lengths[example];
    float* const input = of_input + example * 3 * n + unit;
    float* const state = of_state + example * 3 * n + unit;
    if (s.turn >= length) {
      for (std::size_t gate = 0; gate < 3; ++gate) {
        input[gate * n] = 0.0F;
        state[gate * n] = 0.0F;
      }
      h_gradient[i] = 0.0F;
      continue;
    }
    const float reset = input[0];
    const float keep = input[n];
    const float candidate = input[2 * n];
    const float recalled = state[2 * n];
    const float dh =
        y_gradient[row_of(s.shape, example, s.turn, length) * s.y_stride + unit] + (s.is_last ? 0.0F : h_gradient[i]);
    const float d_candidate = dh * (1.0F - keep) * (1.0F - candidate * candidate);
    const float d_keep = dh * (previous_h[i] - candidate) * (keep * (1.0F - keep));
    const float d_reset = d_candidate * recalled * (reset * (1.0F - reset));
    input[0] = d_reset;
    input[n] = d_keep;
    input[2 * n] = d_candidate;
    state[0] = d_reset;
    state[n] = d_keep;
    state[2 * n] = d_candidate * reset;
    h_gradient[i] = dh * keep;
  }
}

Grid one_for_each_unit(const CellTurn& turn) { return threads_for(turn.shape.examples * turn.units); }

}  // namespace

cudaError_t launch_gather_turns(const Turns& shape, std::size_t turns, std::size_t columns,
                                const std::uint32_t* lengths, const float* x, float* packed, cudaStream_t stream) {
  return launch(gather_turns, threads_for(turns * shape.examples * columns), stream, shape, turns, columns, lengths, x,
                packed);
}

cudaError_t launch_scatter_turns(const Turns& shape, std::size_t columns, const std::uint32_t* lengths,
                                 const float* packed, bool adds, float* x, cudaStream_t stream) {
  return launch(scatter_turns, threads_for(shape.examples * shape.steps * columns), stream, shape, columns, lengths,
                packed, adds, x);
}

cudaError_t launch_lstm(const CellTurn& turn, const CellBuffers& b, cudaStream_t stream) {
  return launch(lstm, one_for_each_unit(turn), stream, turn, b.lengths, b.bias_ih, b.bias_hh, b.of_input, b.previous_c,
                b.h, b.c, b.y);
}

cudaError_t launch_lstm_backward(const CellTurn& turn, const CellBuffers& b, cudaStream_t stream) {
  return launch(lstm_backward, one_for_each_unit(turn), stream, turn, b.lengths, b.of_input, b.previous_c, b.c,
                b.y_gradient, b.h_gradient, b.c_gradient);
}

cudaError_t launch_gru(const CellTurn& turn, const CellBuffers& b, cudaStream_t stream) {
  return launch(gru, one_for_each_unit(turn), stream, turn, b.lengths, b.bias_ih, b.bias_hh, b.of_input, b.of_state,
                b.previous_h, b.h, b.y);
}

cudaError_t launch_gru_backward(const CellTurn& turn, const CellBuffers& b, cudaStream_t stream) {
  return launch(gru_backward, one_for_each_unit(turn), stream, turn, b.lengths, b.of_input, b.of_state, b.previous_h,
                b.y_gradient, b.h_gradient);
}

}  // namespace ballast::cuda
