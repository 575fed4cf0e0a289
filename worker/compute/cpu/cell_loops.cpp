#include "worker/compute/cpu/cell_loops.h"

#include <array>

#include "worker/compute/cpu/vector_math.h"

namespace ballast::cpu {
namespace {

struct LstmForward {
  BALLAST_VECTOR_INLINE static void run(const CellStep& s, std::size_t row) {
    const std::size_t n = s.units;
    float* const gates = s.of_input + row * 4 * n;
    const bool begins = row >= s.previous_rows;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const auto gate = [&](std::size_t which) BALLAST_VECTOR_LAMBDA {
        const std::size_t at = which * n + j;
        return lanes.get(gates + at) + (lanes.get(s.bias_ih + at) + lanes.get(s.bias_hh + at));
      };
      const Floats in = sigmoid_of(gate(0));
      const Floats forget = sigmoid_of(gate(1));
      const Floats candidate = tanh_of(gate(2));
      const Floats out = sigmoid_of(gate(3));
      const Floats before = begins ? Floats{} : lanes.get(s.previous_c + row * n + j);
      const Floats c = forget * before + in * candidate;
      lanes.put(gates + j, in);
      lanes.put(gates + n + j, forget);
      lanes.put(gates + 2 * n + j, candidate);
      lanes.put(gates + 3 * n + j, out);
      lanes.put(s.c + row * n + j, c);
      lanes.put(s.h + row * n + j, out * tanh_of(c));
    });
  }
};

struct LstmBackward {
  BALLAST_VECTOR_INLINE static void run(const CellStep& s, std::size_t row) {
    const std::size_t n = s.units;
    float* const gates = s.of_input + row * 4 * n;
    const bool begins = row >= s.previous_rows;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats in = lanes.get(gates + j);
      const Floats forget = lanes.get(gates + n + j);
      const Floats candidate = lanes.get(gates + 2 * n + j);
      const Floats out = lanes.get(gates + 3 * n + j);
      const Floats shown = tanh_of(lanes.get(s.c + row * n + j));
      const Floats before = begins ? Floats{} : lanes.get(s.previous_c + row * n + j);
      const Floats dh = lanes.get(s.h_gradient + row * n + j);
      const Floats dc = lanes.get(s.c_gradient + row * n + j) + dh * out * (1.0F - shown * shown);
      lanes.put(gates + j, dc * candidate * (in * (1.0F - in)));
      lanes.put(gates + n + j, dc * before * (forget * (1.0F - forget)));
      lanes.put(gates + 2 * n + j, dc * in * (1.0F - candidate * candidate));
      lanes.put(gates + 3 * n + j, dh * shown * (out * (1.0F - out)));
      lanes.put(s.c_gradient + row * n + j, dc * forget);
    });
  }
};

struct GruForward {
  BALLAST_VECTOR_INLINE static void run(const CellStep& s, std::size_t row) {
    const std::size_t n = s.units;
    float* const of_input = s.of_input + row * 3 * n;
    float* const of_state = s.of_state + row * 3 * n;
    const bool begins = row >= s.previous_rows;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const auto input = [&](std::size_t which) BALLAST_VECTOR_LAMBDA {
        return lanes.get(of_input + which * n + j) + lanes.get(s.bias_ih + which * n + j);
      };
      const auto state = [&](std::size_t which) BALLAST_VECTOR_LAMBDA {
        const Floats product = begins ? Floats{} : lanes.get(of_state + which * n + j);
        return product + lanes.get(s.bias_hh + which * n + j);
      };
      const Floats reset = sigmoid_of(input(0) + state(0));
      const Floats keep = sigmoid_of(input(1) + state(1));
      const Floats recalled = state(2);
      const Floats candidate = tanh_of(input(2) + reset * recalled);
      const Floats before = begins ? Floats{} : lanes.get(s.previous_h + row * n + j);
      lanes.put(of_input + j, reset);
      lanes.put(of_input + n + j, keep);
      lanes.put(of_input + 2 * n + j, candidate);
      lanes.put(of_state + 2 * n + j, recalled);
      lanes.put(s.h + row * n + j, candidate + keep * (before - candidate));
    });
  }
};

struct GruBackward {
  BALLAST_VECTOR_INLINE static void run(const CellStep& s, std::size_t row) {
    const std::size_t n = s.units;
    float* const of_input = s.of_input + row * 3 * n;
    float* const of_state = s.of_state + row * 3 * n;
    const bool begins = row >= s.previous_rows;
    in_vectors(n, [&](std::size_t j, auto lanes) BALLAST_VECTOR_LAMBDA {
      const Floats reset = lanes.get(of_input + j);
      const Floats keep = lanes.get(of_input + n + j);
      const Floats candidate = lanes.get(of_input + 2 * n + j);
      const Floats recalled = lanes.get(of_state + 2 * n + j);
      const Floats before = begins ? Floats{} : lanes.get(s.previous_h + row * n + j);
      const Floats dh = lanes.get(s.h_gradient + row * n + j);
      const Floats d_candidate = dh * (1.0F - keep) * (1.0F - candidate * candidate);
      const Floats d_keep = dh * (before - candidate) * (keep * (1.0F - keep));
      const Floats d_reset = d_candidate * recalled * (reset * (1.0F - reset));
      lanes.put(of_input + j, d_reset);
      lanes.put(of_input + n + j, d_keep);
      lanes.put(of_input + 2 * n + j, d_candidate);
      lanes.put(of_state + j, d_reset);
      lanes.put(of_state + n + j, d_keep);
      lanes.put(of_state + 2 * n + j, d_candidate * reset);
      if (!begins) {
        float* const previous = s.previous_h_gradient + row * n + j;
        lanes.put(previous, lanes.get(previous) + dh * keep);
      }
    });
  }
};

template <typename Cell>
struct Rows {
  BALLAST_VECTOR_INLINE static void run(const CellStep* step, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      Cell::run(*step, row);
    }
  }
};

template <typename Cell>
void run_cells(const CellStep& step, std::uint32_t threads) {
  constexpr std::size_t kCost = 8;  // an element of a cell takes as long as so many of simpler loops
  share_out_pieces(step.rows, rows_of_piece(kCost * step.units), threads,
                   [&](std::size_t begin, std::size_t end) { run_widest<Rows<Cell>>(&step, begin, end); });
}

constexpr std::size_t kColumns = 256;  // summed at once

// In two stages, which round less often than one.
struct SumColumns {
  BALLAST_VECTOR_INLINE static void run(const float* matrix, std::size_t rows, std::size_t stride, std::size_t columns,
                                        float* sums) {
    constexpr std::size_t kRows = 64;
    std::array<float, kColumns> some = {};
    std::fill_n(sums, columns, 0.0F);
    for (std::size_t begin = 0; begin < rows; begin += kRows) {
      some.fill(0.0F);
      for (std::size_t row = begin; row < std::min(rows, begin + kRows); ++row) {
        add(matrix + row * stride, some.data(), columns);
      }
      add(some.data(), sums, columns);
    }
  }

 private:
  BALLAST_VECTOR_INLINE static void add(const float* from, float* to, std::size_t n) {
    in_vectors(n, [=](std::size_t i, auto lanes)
                      BALLAST_VECTOR_LAMBDA { lanes.put(to + i, lanes.get(to + i) + lanes.get(from + i)); });
  }
};

}  // namespace

void lstm_forward(const CellStep& step, std::uint32_t threads) { run_cells<LstmForward>(step, threads); }
void lstm_backward(const CellStep& step, std::uint32_t threads) { run_cells<LstmBackward>(step, threads); }
void gru_forward(const CellStep& step, std::uint32_t threads) { run_cells<GruForward>(step, threads); }
void gru_backward(const CellStep& step, std::uint32_t threads) { run_cells<GruBackward>(step, threads); }

void sum_columns(const float* matrix, std::size_t rows, std::size_t columns, std::size_t stride, float* sums,
                 std::uint32_t threads) {
  share_out_pieces(columns, kColumns, threads, [&](std::size_t begin, std::size_t end) {
    run_widest<SumColumns>(matrix + begin, rows, stride, end - begin, sums + begin);
  });
}

}  // namespace ballast::cpu
