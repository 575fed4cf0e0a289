// What the cells of a tree LSTM compute beside products of matrices, element by element, for the nodes of one level.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast::cpu {

// Of nodes at places begin to end. Pointers are to matrices of all places: `gates` with 5 units a row, the others with
// `units`.
struct TreeCells {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t units = 0;
  const std::uint32_t* lefts = nullptr;  // by place: the children's
  const std::uint32_t* rights = nullptr;
  const float* bias = nullptr;
  float* gates = nullptr;  // sums without bias; after forward their values; after backward the gradients of the sums
  float* c = nullptr;
  float* h = nullptr;
  const float* h_gradient = nullptr;
  float* c_gradient = nullptr;
};

// Gates i, o, u, in the first 3 units of a row.
void leaf_forward(const TreeCells& cells, std::uint32_t threads);
void leaf_backward(const TreeCells& cells, std::uint32_t threads);

// Gates i, f of the left, f of the right, o, u. Backward writes the gradients of the children's c.
void node_forward(const TreeCells& cells, std::uint32_t threads);
void node_backward(const TreeCells& cells, std::uint32_t threads);

}  // namespace ballast::cpu
