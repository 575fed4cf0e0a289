// Kernels of the tree LSTM, between its products. Nodes of all trees of a batch have places in the order of their
// levels, leaves first (worker/compute/tree_levels.h). All pointers are of the device, of matrices by place unless
// something else is said; each returns the status of its launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace ballast::cuda {

// The values of places are those of their rows.
cudaError_t launch_gather_rows(std::size_t places, std::size_t columns, const std::uint32_t* rows, const float* x,
                               float* by_place, cudaStream_t stream);
// The other way: of each row those of its place, where that is below `places`, otherwise zeros.
cudaError_t launch_spread_rows(std::size_t rows, std::size_t columns, std::size_t places,
                               const std::uint32_t* place_of_row, const float* by_place, float* x, cudaStream_t stream);

// Nodes at places begin to end. `gates` has 5 units a row.
struct TreeLevel {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t units = 0;
};

// By place: those of the children. Not of leaves.
struct Children {
  const std::uint32_t* lefts = nullptr;
  const std::uint32_t* rights = nullptr;
};

// Both children's h, side by side.
cudaError_t launch_gather_children(const TreeLevel& level, const Children& children, const float* h, float* both,
                                   cudaStream_t stream);
// Adds to the gradients of the children's h: a node is a child of one node alone.
cudaError_t launch_add_to_children(const TreeLevel& level, const Children& children, const float* both,
                                   float* h_gradient, cudaStream_t stream);

struct TreeCells {
  const float* bias = nullptr;
  float* gates = nullptr;  // sums without bias; after forward their values; after backward the gradients of the sums
  float* c = nullptr;
  float* h = nullptr;
  const float* h_gradient = nullptr;
  float* c_gradient = nullptr;
};

// Gates i, o, u, in the first 3 units of a row.
cudaError_t launch_leaves(const TreeLevel& level, const TreeCells& cells, cudaStream_t stream);
cudaError_t launch_leaves_backward(const TreeLevel& level, const TreeCells& cells, cudaStream_t stream);

// Gates i, f of the left, f of the right, o, u. Backward writes the gradients of the children's c.
cudaError_t launch_nodes(const TreeLevel& level, const Children& children, const TreeCells& cells, cudaStream_t stream);
cudaError_t launch_nodes_backward(const TreeLevel& level, const Children& children, const TreeCells& cells,
                                  cudaStream_t stream);

}  // namespace ballast::cuda
