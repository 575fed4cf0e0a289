// A fully connected layer by oneDNN's inner product, which reads weights and writes their gradient as they lie in the
// arenas.
#include <utility>

#include "worker/compute/cpu/layer_parameters.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/primitive.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

using dnnl::memory;
using Tag = dnnl::memory::format_tag;
constexpr auto kMatrixType = dnnl::memory::data_type::f32;

memory::desc matrix(std::size_t rows, std::size_t columns) {
  return {{static_cast<memory::dim>(rows), static_cast<memory::dim>(columns)}, kMatrixType, Tag::ab};
}

// A plain tensor as a matrix of its rows, in the same memory.
memory as_matrix(const Context& context, const memory& plain_tensor, const Shape& shape) {
  return {matrix(shape.rows(), shape.features()), context.engine, plain_tensor.get_data_handle()};
}

struct Descriptions {
  Descriptions(const Context& context, const Shape& x_shape, const Linear& linear)
      : x(matrix(x_shape.rows(), x_shape.features())),
        weights(matrix(linear.units, x_shape.features())),
        bias(linear.bias ? memory::desc({linear.units}, kMatrixType, Tag::x) : memory::desc()),
        y(matrix(x_shape.rows(), linear.units)) {
    const dnnl::primitive_attr attributes = with_own_scratchpad();
    forward = {{dnnl::prop_kind::forward_training, x, weights, bias, y}, attributes, context.engine};
    backward_weights = {{x, weights, bias, y}, attributes, context.engine, forward};
    backward_input = {{x, weights, y}, attributes, context.engine, forward};
  }

  memory::desc x;
  memory::desc weights;
  memory::desc bias;
  memory::desc y;
  dnnl::inner_product_forward::primitive_desc forward;
  dnnl::inner_product_backward_weights::primitive_desc backward_weights;
  dnnl::inner_product_backward_data::primitive_desc backward_input;
};

class LinearOperation : public Operation {
 public:
  LinearOperation(const Context& context, const LayerTask& task, const Descriptions& by, const CpuTensor& y)
      : parameters_(context, task, by.weights, by.bias),
        x_(context, as_cpu(*task.inputs[0]).value(), plain(task.inputs[0]->shape())) {
    const CpuTensor& x = as_cpu(*task.inputs[0]);
    const memory x_matrix = as_matrix(context, x_.memory(), x.shape());
    const memory y_matrix = as_matrix(context, y.value(), y.shape());
    const memory y_gradient = as_matrix(context, y.gradient(), y.shape());
    Primitive::Arguments forward = {
        {DNNL_ARG_SRC, x_matrix}, {DNNL_ARG_WEIGHTS, parameters_.weights()}, {DNNL_ARG_DST, y_matrix}};
    Primitive::Arguments backward = {{DNNL_ARG_SRC, x_matrix},
                                     {DNNL_ARG_DIFF_DST, y_gradient},
                                     {DNNL_ARG_DIFF_WEIGHTS, parameters_.weights_gradient()}};
    if (parameters_.has_bias()) {
      forward.emplace_back(DNNL_ARG_BIAS, parameters_.bias());
      backward.emplace_back(DNNL_ARG_DIFF_BIAS, parameters_.bias_gradient());
    }
    forward_ = Primitive::make<dnnl::inner_product_forward>(context, by.forward, std::move(forward));
    backward_parameters_ =
        Primitive::make<dnnl::inner_product_backward_weights>(context, by.backward_weights, std::move(backward));
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), plain(x.shape()));
      backward_input_ = Primitive::make<dnnl::inner_product_backward_data>(
          context, by.backward_input,
          {{DNNL_ARG_WEIGHTS, parameters_.weights()},
           {DNNL_ARG_DIFF_DST, y_gradient},
           {DNNL_ARG_DIFF_SRC, as_matrix(context, x_gradient_.memory(), x.shape())}});
    }
  }

  void forward() override {
    parameters_.place();
    x_.refresh();
    forward_.run();
  }

  void backward_parameters() override {
    parameters_.place_gradients();
    backward_parameters_.run();
    parameters_.finish_gradients();
  }

  void backward_input() override {
    parameters_.place();
    backward_input_.run();
    x_gradient_.deliver();
  }

 private:
  LayerParameters parameters_;
  Incoming x_;
  Primitive forward_;
  Primitive backward_parameters_;
  Outgoing x_gradient_;
  Primitive backward_input_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Linear& linear) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  const Descriptions descriptions(context, task.inputs[0]->shape(), linear);
  auto operation = std::make_unique<LinearOperation>(context, task, descriptions, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
