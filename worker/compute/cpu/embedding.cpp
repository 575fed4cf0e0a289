// Tokens to vectors, and a vector added for each step.
#include <algorithm>
#include <utility>

#include "worker/compute/cpu/cell_loops.h"
#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/packed_steps.h"
#include "worker/compute/cpu/parameter_gradient.h"
#include "worker/compute/cpu/vectors.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class EmbeddingOperation : public Operation {
 public:
  EmbeddingOperation(const Context& context, const LayerTask& task, const CpuTensor& y)
      : context_(context),
        shape_(y.shape()),
        weights_(task.parameters[0].extent),
        gradient_(context, task.parameters[0]),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override {
    const Batch& batch = context_.pass->batch;
    check_tokens(batch.tokens, shape_.rows(), weights_.elements / shape_.c);
    share_out(shape_.n, context_.threads, [&](std::size_t example) {
      const auto length = length_of(batch, example, shape_.steps);
      float* y = floats(y_) + example * shape_.steps * shape_.c;
      for (std::size_t step = 0; step < length; ++step, y += shape_.c) {
        const auto token = static_cast<std::size_t>(batch.tokens[example * shape_.steps + step]);
        std::copy_n(&context_.weights[weights_.offset + token * shape_.c], shape_.c, y);
      }
      std::fill_n(y, (shape_.steps - length) * shape_.c, 0.0F);
    });
  }

  // Each thread takes some of the columns: every sum is in the order of the rows.
  void backward_parameters() override {
    const auto gradient = gradient_.begin();
    std::ranges::fill(gradient, 0.0F);
    const std::size_t columns = (shape_.c + context_.threads - 1) / context_.threads;
    share_out_pieces(shape_.c, columns, context_.threads,
                     [&](std::size_t begin, std::size_t end) { sum_rows(begin, end - begin, gradient.data()); });
    gradient_.finish();
  }

  void backward_input() override {}  // tokens have no gradient

 private:
  void sum_rows(std::size_t column, std::size_t columns, float* gradient) const {
    const Batch& batch = context_.pass->batch;
    for (std::size_t example = 0; example < shape_.n; ++example) {
      const auto first = example * shape_.steps;
      const auto end = first + length_of(batch, example, shape_.steps);
      for (std::size_t row = first; row < end; ++row) {
        float* const sum = gradient + static_cast<std::size_t>(batch.tokens[row]) * shape_.c + column;
        add_loop(sum, floats(y_gradient_) + row * shape_.c + column, sum, columns, 1);
      }
    }
  }

  const Context& context_;
  Shape shape_;
  Extent weights_;
  ParameterGradient gradient_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
};

class PositionEmbeddingOperation : public Operation {
 public:
  PositionEmbeddingOperation(const Context& context, const LayerTask& task, const CpuTensor& x, const CpuTensor& y)
      : context_(context),
        shape_(y.shape()),
        weights_(task.parameters[0].extent),
        gradient_(context, task.parameters[0]),
        x_(context, x.value(), plain(shape_)),
        y_(y.value()),
        y_gradient_(y.gradient()) {
    if (x.with_gradient()) {
      x_gradient_ = Outgoing(context, x.gradient(), plain(shape_));
    }
  }

  void forward() override {
    x_.refresh();
    const auto floats_of_example = std::size_t{shape_.steps} * shape_.c;
    share_out(shape_.n, context_.threads, [&](std::size_t example) {
      const auto at = example * floats_of_example;
      add_loop(floats(x_.memory()) + at, &context_.weights[weights_.offset], floats(y_) + at, floats_of_example, 1);
    });
  }

  // Steps that no example of the batch is padded to have no gradient.
  void backward_parameters() override {
    const auto gradient = gradient_.begin();
    const auto used = std::size_t{shape_.steps} * shape_.c;
    sum_columns(floats(y_gradient_), shape_.n, used, used, gradient.data(), context_.threads);
    std::ranges::fill(gradient.subspan(used), 0.0F);
    gradient_.finish();
  }

  void backward_input() override {
    if (floats(x_gradient_.memory()) != floats(y_gradient_)) {
      std::copy_n(floats(y_gradient_), shape_.elements(), floats(x_gradient_.memory()));
    }
    x_gradient_.deliver();
  }

 private:
  const Context& context_;
  Shape shape_;
  Extent weights_;
  ParameterGradient gradient_;
  Incoming x_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
  Outgoing x_gradient_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Embedding& /*embedding*/) {
  const Shape to = fit(task);
  auto y = std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<EmbeddingOperation>(context, task, *y);
  return {std::move(operation), std::move(y)};
}

Prepared make(const Context& context, const LayerTask& task, const PositionEmbedding& /*embedding*/) {
  const Shape to = fit(task);
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const bool in_place = task.in_place && x.with_gradient() && x.value().get_desc() == plain(to);
  auto y = in_place ? std::make_unique<CpuTensor>(x, std::in_place)
                    : std::make_unique<CpuTensor>(context, to, plain(to), true);
  auto operation = std::make_unique<PositionEmbeddingOperation>(context, task, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
