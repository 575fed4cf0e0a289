#include "worker/compute/cpu/tree_cell_loops.h"

#include "worker/compute/cpu/vector_math.h"

namespace ballast::cpu {
namespace {

constexpr std::size_t kGates = 5;  // a row's length in units

struct LeafForward {
  BALLAST_VECTOR_INLINE static void run(const TreeCells& s, std::size_t place) {
    const std::size_t n = s.units;
    float* const gates = s.gates + place * kGates * n;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats in = sigmoid_of(lanes.get(gates + j) + lanes.get(s.bias + j));
      const Floats out = sigmoid_of(lanes.get(gates + n + j) + lanes.get(s.bias + n + j));
      const Floats update = tanh_of(lanes.get(gates + 2 * n + j) + lanes.get(s.bias + 2 * n + j));
      const Floats c = in * update;
      lanes.put(gates + j, in);
      lanes.put(gates + n + j, out);
      lanes.put(gates + 2 * n + j, update);
      lanes.put(s.c + place * n + j, c);
      lanes.put(s.h + place * n + j, out * tanh_of(c));
    });
  }
};

struct LeafBackward {
  BALLAST_VECTOR_INLINE static void run(const TreeCells& s, std::size_t place) {
    const std::size_t n = s.units;
    float* const gates = s.gates + place * kGates * n;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats in = lanes.get(gates + j);
      const Floats out = lanes.get(gates + n + j);
      const Floats update = lanes.get(gates + 2 * n + j);
      const Floats shown = tanh_of(lanes.get(s.c + place * n + j));
      const Floats dh = lanes.get(s.h_gradient + place * n + j);
      const Floats dc = lanes.get(s.c_gradient + place * n + j) + dh * out * (1.0F - shown * shown);
      lanes.put(gates + j, dc * update * (in * (1.0F - in)));
      lanes.put(gates + n + j, dh * shown * (out * (1.0F - out)));
      lanes.put(gates + 2 * n + j, dc * in * (1.0F - update * update));
    });
  }
};

struct NodeForward {
  BALLAST_VECTOR_INLINE static void run(const TreeCells& s, std::size_t place) {
    const std::size_t n = s.units;
    float* const gates = s.gates + place * kGates * n;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const auto gate = [&](std::size_t which) BALLAST_VECTOR_LAMBDA {
        return lanes.get(gates + which * n + j) + lanes.get(s.bias + which * n + j);
      };
      const Floats in = sigmoid_of(gate(0));
      const Floats keep_left = sigmoid_of(gate(1));
      const Floats keep_right = sigmoid_of(gate(2));
      const Floats out = sigmoid_of(gate(3));
      const Floats update = tanh_of(gate(4));
      const Floats c = in * update + keep_left * lanes.get(s.c + s.lefts[place] * n + j) +
                       keep_right * lanes.get(s.c + s.rights[place] * n + j);
      lanes.put(gates + j, in);
      lanes.put(gates + n + j, keep_left);
      lanes.put(gates + 2 * n + j, keep_right);
      lanes.put(gates + 3 * n + j, out);
      lanes.put(gates + 4 * n + j, update);
      lanes.put(s.c + place * n + j, c);
      lanes.put(s.h + place * n + j, out * tanh_of(c));
    });
  }
};

struct NodeBackward {
  BALLAST_VECTOR_INLINE static void run(const TreeCells& s, std::size_t place) {
    const std::size_t n = s.units;
    float* const gates = s.gates + place * kGates * n;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats in = lanes.get(gates + j);
      const Floats keep_left = lanes.get(gates + n + j);
      const Floats keep_right = lanes.get(gates + 2 * n + j);
      const Floats out = lanes.get(gates + 3 * n + j);
      const Floats update = lanes.get(gates + 4 * n + j);
      const Floats shown = tanh_of(lanes.get(s.c + place * n + j));
      const Floats dh = lanes.get(s.h_gradient + place * n + j);
      const Floats dc = lanes.get(s.c_gradient + place * n + j) + dh * out * (1.0F - shown * shown);
      const auto left = s.lefts[place] * n + j;
      const auto right = s.rights[place] * n + j;
      lanes.put(gates + j, dc * update * (in * (1.0F - in)));
      lanes.put(gates + n + j, dc * lanes.get(s.c + left) * (keep_left * (1.0F - keep_left)));
      lanes.put(gates + 2 * n + j, dc * lanes.get(s.c + right) * (keep_right * (1.0F - keep_right)));
      lanes.put(gates + 3 * n + j, dh * shown * (out * (1.0F - out)));
      lanes.put(gates + 4 * n + j, dc * in * (1.0F - update * update));
      lanes.put(s.c_gradient + left, dc * keep_left);
      lanes.put(s.c_gradient + right, dc * keep_right);
    });
  }
};

template <typename Cell>
struct Places {
  BALLAST_VECTOR_INLINE static void run(const TreeCells* cells, std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place) {
      Cell::run(*cells, place);
    }
  }
};

template <typename Cell>
void run_cells(const TreeCells& cells, std::uint32_t threads) {
  constexpr std::size_t kCost = 8;  // an element of a cell takes as long as so many of simpler loops
  share_out_pieces(cells.end - cells.begin, rows_of_piece(kCost * cells.units), threads,
                   [&](std::size_t begin, std::size_t end) {
                     run_widest<Places<Cell>>(&cells, cells.begin + begin, cells.begin + end);
                   });
}

}  // namespace

void leaf_forward(const TreeCells& cells, std::uint32_t threads) { run_cells<LeafForward>(cells, threads); }
void leaf_backward(const TreeCells& cells, std::uint32_t threads) { run_cells<LeafBackward>(cells, threads); }
void node_forward(const TreeCells& cells, std::uint32_t threads) { run_cells<NodeForward>(cells, threads); }
void node_backward(const TreeCells& cells, std::uint32_t threads) { run_cells<NodeBackward>(cells, threads); }

}  // namespace ballast::cpu
