#include "worker/compute/cuda/kernels/trees.h"

#include "worker/compute/cuda/kernels/cells.h"
#include "worker/compute/cuda/kernels/grid.h"

namespace ballast::cuda {
namespace {

constexpr std::size_t kGates = 5;  // a row's length in units

__global__ void gather_rows(std::size_t places, std::size_t columns, const std::uint32_t* rows, const float* x,
                            float* by_place) {
  for (std::size_t i = first_element(); i < places * columns; i += all_threads()) {
    by_place[i] = x[rows[i / columns] * columns + i % columns];
  }
}

__global__ void spread_rows(std::size_t rows, std::size_t columns, std::size_t places,
                            const std::uint32_t* place_of_row, const float* by_place, float* x) {
  for (std::size_t i = first_element(); i < rows * columns; i += all_threads()) {
    const std::size_t place = place_of_row[i / columns];
    x[i] = place < places ? by_place[place * columns + i % columns] : 0.0F;
  }
}

// One thread for each unit of each node, as in all that follow.
__global__ void gather_children(TreeLevel s, const std::uint32_t* lefts, const std::uint32_t* rights, const float* h,
                                float* both) {
  for (std::size_t i = first_element(); i < (s.end - s.begin) * s.units; i += all_threads()) {
    const std::size_t place = s.begin + i / s.units;
    const std::size_t unit = i % s.units;
    both[2 * place * s.units + unit] = h[lefts[place] * s.units + unit];
    both[(2 * place + 1) * s.units + unit] = h[rights[place] * s.units + unit];
  }
}

__global__ void add_to_children(TreeLevel s, const std::uint32_t* lefts, const std::uint32_t* rights, const float* both,
                                float* h_gradient) {
  for (std::size_t i = first_element(); i < (s.end - s.begin) * s.units; i += all_threads()) {
    const std::size_t place = s.begin + i / s.units;
    const std::size_t unit = i % s.units;
    h_gradient[lefts[place] * s.units + unit] += both[2 * place * s.units + unit];
    h_gradient[rights[place] * s.units + unit] += both[(2 * place + 1) * s.units + unit];
  }
}

__global__ void leaves(TreeLevel s, const float* bias, float* all_gates, float* c, float* h) {
  const std::size_t n = s.units;
  for (std::size_t i = s.begin * n + first_element(); i < s.end * n; i += all_threads()) {
    const std::size_t unit = i % n;
    float* const gates = all_gates + i / n * kGates * n + unit;
    const float in = sigmoid_of(gates[0] + bias[unit]);
    const float out = sigmoid_of(gates[n] + bias[n + unit]);
    const float update = tanhf(gates[2 * n] + bias[2 * n + unit]);
    gates[0] = in;
    gates[n] = out;
    gates[2 * n] = update;
    c[i] = in * update;
    h[i] = out * tanhf(c[i]);
  }
}

// The gradient of c, from that of h and what the parent's c brings.
__device__ float c_gradient_of(float c_gradient, float h_gradient, float out, float shown) {
  return c_gradient + h_gradient * out * (1.0F - shown * shown);
}

__global__ void leaves_backward(TreeLevel s, float* all_gates, const float* c, const float* h_gradient,
                                const float* c_gradient) {
  const std::size_t n = s.units;
  for (std::size_t i = s.begin * n + first_element(); i < s.end * n; i += all_threads()) {
    float* const gates = all_gates + i / n * kGates * n + i % n;
    const float in = gates[0];
    const float out = gates[n];
    const float update = gates[2 * n];
    const float shown = tanhf(c[i]);
    const float dc = c_gradient_of(c_gradient[i], h_gradient[i], out, shown);
    gates[0] = dc * update * (in * (1.0F - in));
    gates[n] = h_gradient[i] * shown * (out * (1.0F - out));
    gates[2 * n] = dc * in * (1.0F - update * update);
  }
}

__global__ void nodes(TreeLevel s, const std::uint32_t* lefts, const std::uint32_t* rights, const float* bias,
                      float* all_gates, float* c, float* h) {
  const std::size_t n = s.units;
  for (std::size_t i = s.begin * n + first_element(); i < s.end * n; i += all_threads()) {
    const std::size_t unit = i % n;
    float* const gates = all_gates + i / n * kGates * n + unit;
    const float in = sigmoid_of(gates[0] + bias[unit]);
    const float keep_left = sigmoid_of(gates[n] + bias[n + unit]);
    const float keep_right = sigmoid_of(gates[2 * n] + bias[2 * n + unit]);
    const float out = sigmoid_of(gates[3 * n] + bias[3 * n + unit]);
    const float update = tanhf(gates[4 * n] + bias[4 * n + unit]);
    gates[0] = in;
    gates[n] = keep_left;
    gates[2 * n] = keep_right;
    gates[3 * n] = out;
    gates[4 * n] = update;
    c[i] = in * update + keep_left * c[lefts[i / n] * n + unit] + keep_right * c[rights[i / n] * n + unit];
    h[i] = out * tanhf(c[i]);
  }
}

__global__ void nodes_backward(TreeLevel s, const std::uint32_t* lefts, const std::uint32_t* rights, float* all_gates,
                               const float* c, const float* h_gradient, float* c_gradient) {
  const std::size_t n = s.units;
  for (std::size_t i = s.begin * n + first_element(); i < s.end * n; i += all_threads()) {
    const std::size_t left = lefts[i / n] * n + i % n;
    const std::size_t right = rights[i / n] * n + i % n;
    float* const gates = all_gates + i / n * kGates * n + i % n;
    const float in = gates[0];
    const float keep_left = gates[n];
    const float keep_right = gates[2 * n];
    const float out = gates[3 * n];
    const float update = gates[4 * n];
    const float shown = tanhf(c[i]);
    const float dc = c_gradient_of(c_gradient[i], h_gradient[i], out, shown);
    gates[0] = dc * update * (in * (1.0F - in));
    gates[n] = dc * c[left] * (keep_left * (1.0F - keep_left));
    gates[2 * n] = dc * c[right] * (keep_right * (1.0F - keep_right));
    gates[3 * n] = h_gradient[i] * shown * (out * (1.0F - out));
    gates[4 * n] = dc * in * (1.0F - update * update);
    c_gradient[left] = dc * keep_left;
    c_gradient[right] = dc * keep_right;
  }
}

Grid one_for_each_unit(const TreeLevel& level) { return threads_for((level.end - level.begin) * level.units); }

}  // namespace

cudaError_t launch_gather_rows(std::size_t places, std::size_t columns, const std::uint32_t* rows, const float* x,
                               float* by_place, cudaStream_t stream) {
  return launch(gather_rows, threads_for(places * columns), stream, places, columns, rows, x, by_place);
}

cudaError_t launch_spread_rows(std::size_t rows, std::size_t columns, std::size_t places,
                               const std::uint32_t* place_of_row, const float* by_place, float* x,
                               cudaStream_t stream) {
  return launch(spread_rows, threads_for(rows * columns), stream, rows, columns, places, place_of_row, by_place, x);
}

cudaError_t launch_gather_children(const TreeLevel& level, const Children& children, const float* h, float* both,
                                   cudaStream_t stream) {
  return launch(gather_children, one_for_each_unit(level), stream, level, children.lefts, children.rights, h, both);
}

cudaError_t launch_add_to_children(const TreeLevel& level, const Children& children, const float* both,
                                   float* h_gradient, cudaStream_t stream) {
  return launch(add_to_children, one_for_each_unit(level), stream, level, children.lefts, children.rights, both,
                h_gradient);
}

cudaError_t launch_leaves(const TreeLevel& level, const TreeCells& cells, cudaStream_t stream) {
  return launch(leaves, one_for_each_unit(level), stream, level, cells.bias, cells.gates, cells.c, cells.h);
}

cudaError_t launch_leaves_backward(const TreeLevel& level, const TreeCells& cells, cudaStream_t stream) {
  return launch(leaves_backward, one_for_each_unit(level), stream, level, cells.gates, cells.c, cells.h_gradient,
                cells.c_gradient);
}

cudaError_t launch_nodes(const TreeLevel& level, const Children& children, const TreeCells& cells,
                         cudaStream_t stream) {
  return launch(nodes, one_for_each_unit(level), stream, level, children.lefts, children.rights, cells.bias,
                cells.gates, cells.c, cells.h);
}

cudaError_t launch_nodes_backward(const TreeLevel& level, const Children& children, const TreeCells& cells,
                                  cudaStream_t stream) {
  return launch(nodes_backward, one_for_each_unit(level), stream, level, children.lefts, children.rights, cells.gates,
                cells.c, cells.h_gradient, cells.c_gradient);
}

}  // namespace ballast::cuda
