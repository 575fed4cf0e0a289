// Kernels of recurrent layers, between their products. A layer computes in turns: in turn t every example takes its
// step t or, backwards, the step t before its last one, so that in both directions an example is done when the turn is
// its length. What is packed is turns x examples x columns. All pointers are of the device; each returns the status of
// its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

struct Turns {
  std::size_t examples = 0;
  std::size_t steps = 0;  // of each example, padding included
  bool backwards = false;
};

// The steps of the first `turns` turns; zeros for examples that are done.
cudaError_t launch_gather_turns(const Turns& shape, std::size_t turns, std::size_t columns,
                                const std::uint32_t* lengths, const float* x, float* packed, cudaStream_t stream);
// The other way, for all steps; zeros from each example's length on. With `adds` to what is there.
cudaError_t launch_scatter_turns(const Turns& shape, std::size_t columns, const std::uint32_t* lengths,
                                 const float* packed, bool adds, float* x, cudaStream_t stream);

// One turn of a cell.
struct CellTurn {
  Turns shape;
  std::size_t turn = 0;
  std::size_t units = 0;
  std::size_t y_stride = 0;  // from one step of an example to the next
  bool is_last = false;      // nothing comes back from a later one
};

// Packed rows of the turn alone: `units` values for each gate, or just `units`; but y and its gradient are of all
// steps. A cell reads no pointers that it has no use for.
struct CellBuffers {
  const std::uint32_t* lengths = nullptr;
  const float* bias_ih = nullptr;
  const float* bias_hh = nullptr;
  float* of_input = nullptr;          // gates: W_ih x; later their values, and the gradients of their sums
  float* of_state = nullptr;          // gates: W_hh h, of a GRU; later the gradients of it
  const float* previous_h = nullptr;  // zeros in the first turn
  const float* previous_c = nullptr;  // the same
  float* h = nullptr;
  float* c = nullptr;
  float* y = nullptr;
  const float* y_gradient = nullptr;
  float* h_gradient = nullptr;  // what later turns bring; of a GRU it becomes what the state brings by itself
  float* c_gradient = nullptr;  // the same; becomes that of the previous c
};

// Gates i, f, g, o. Before forward, of_input has W_hh h as well; after it the gates' values; after backward the
// gradients of their sums. Examples that are done have states and gradients of zero.
cudaError_t launch_lstm(const CellTurn& turn, const CellBuffers& buffers, cudaStream_t stream);
cudaError_t launch_lstm_backward(const CellTurn& turn, const CellBuffers& buffers, cudaStream_t stream);

// Gates r, z, n. After forward of_input has their values, and of_state the third's sum; after backward both have the
// gradients of theirs.
cudaError_t launch_gru(const CellTurn& turn, const CellBuffers& buffers, cudaStream_t stream);
cudaError_t launch_gru_backward(const CellTurn& turn, const CellBuffers& buffers, cudaStream_t stream);

}  // namespace ballast::cuda
