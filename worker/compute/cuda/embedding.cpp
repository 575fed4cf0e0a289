// Tokens to vectors, and a vector added for each step.
#include <string>
#include <utility>

#include "worker/compute/cuda/kernels/elementwise.h"
#include "worker/compute/cuda/kernels/embeddings.h"
#include "worker/compute/cuda/operations.h"
#include "worker/compute/cuda/status.h"
#include "worker/compute/cuda/upload.h"
#include "worker/compute/fit.h"

namespace ballast::cuda {
namespace {

EmbeddingShape shape_of(const Shape& y, const Extent& weight) {
  return {y.n, y.steps, y.c, static_cast<std::size_t>(weight.elements) / y.c};
}

class EmbeddingOperation : public Operation {
 public:
  EmbeddingOperation(Context& context, const LayerTask& task, const CudaTensor& y)
      : context_(context),
        what_("embedding to " + to_string(y.shape())),
        place_(task.parameters[0]),
        shape_(shape_of(y.shape(), place_.extent)),
        y_(y.value()),
        y_gradient_(y.gradient()),
        lengths_(y.shape(), what_),
        tokens_(y.shape().rows(), what_),
        rows_(y.shape().rows(), what_),
        begins_(shape_.vectors + 1, what_) {}

  void forward() override {
    const Pass& pass = context_.pass();
    check_tokens(pass.batch.tokens, tokens_.sent().size(), shape_.vectors);
    lengths_.send(context_, what_);
    tokens_.send(context_, pass.batch.tokens, what_);
    if (pass.training) {
      send_rows();
    }
    check(launch_embed(shape_, tokens_.data(), lengths_.data(), context_.weights_at(place_.extent), y_,
                       context_.compute()),
          what_, "forward");
  }

  void backward_parameters() override {
    check(launch_embed_backward(shape_, rows_.data(), begins_.data(), y_gradient_, place_.adds,
                                context_.gradients_at(place_.extent), context_.compute()),
          what_, "gradient of the weights");
  }

  void backward_input() override {}  // tokens have no gradient

 private:
  // Calls visit(row, token) for each row that is no padding, in their order.
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    for (std::size_t row = 0; row < tokens_.sent().size(); ++row) {
      if (row % shape_.steps < lengths_.sent()[row / shape_.steps]) {
        visit(static_cast<std::uint32_t>(row), static_cast<std::size_t>(tokens_.sent()[row]));
      }
    }
  }

  // Sorts the rows by their tokens, so that a thread finds those whose gradients it sums: counts, then places.
  void send_rows() {
    const auto begins = begins_.stage(what_);
    const auto rows = rows_.stage(what_);
    std::ranges::fill(begins, 0);
    std::ranges::fill(rows, 0);
    for_each_row([&](std::uint32_t, std::size_t token) { ++begins[token + 1]; });
    for (std::size_t token = 0; token < shape_.vectors; ++token) {
      begins[token + 1] += begins[token];
    }
    for_each_row([&](std::uint32_t row, std::size_t token) { rows[begins[token]++] = row; });
    // Each begin is now its end, which is the next one's begin.
    for (std::size_t token = shape_.vectors; token > 0; --token) {
      begins[token] = begins[token - 1];
    }
    begins[0] = 0;
    rows_.send(context_, what_);
    begins_.send(context_, what_);
  }

  Context& context_;
  std::string what_;
  ParameterPlace place_;
  EmbeddingShape shape_;
  float* y_;
  const float* y_gradient_;
  Lengths lengths_;
  Upload<std::int32_t> tokens_;
  Upload<std::uint32_t> rows_;    // by token
  Upload<std::uint32_t> begins_;  // of tokens in rows_
};

class PositionEmbeddingOperation : public Operation {
 public:
  PositionEmbeddingOperation(const Context& context, const LayerTask& task, const CudaTensor& x, const CudaTensor& y)
      : context_(context),
        what_("position_embedding of " + to_string(y.shape())),
        place_(task.parameters[0]),
        shape_(shape_of(y.shape(), place_.extent)),
        x_(x.value()),
        x_gradient_(x.gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override {
    check(launch_add_positions(shape_, x_, context_.weights_at(place_.extent), y_, context_.compute()), what_,
          "forward");
  }
  void backward_parameters() override {
    check(launch_positions_backward(shape_, y_gradient_, place_.adds, context_.gradients_at(place_.extent),
                                    context_.compute()),
          what_, "gradient of the weights");
  }
  void backward_input() override {
    if (x_gradient_ != y_gradient_) {
      check(launch_copy(y_gradient_, x_gradient_, shape_.examples * shape_.steps * shape_.units, context_.compute()),
            what_, "gradient of the input");
    }
  }

 private:
  const Context& context_;
  std::string what_;
  ParameterPlace place_;
  EmbeddingShape shape_;
  const float* x_;
  float* x_gradient_;
  float* y_;
  const float* y_gradient_;
};

}  // namespace

Prepared make(Context& context, const LayerTask& task, const Embedding& /*embedding*/) {
  auto y = std::make_unique<CudaTensor>(fit(task), true);
  auto operation = std::make_unique<EmbeddingOperation>(context, task, *y);
  return {std::move(operation), std::move(y)};
}

Prepared make(Context& context, const LayerTask& task, const PositionEmbedding& /*embedding*/) {
  const Shape to = fit(task);
  const CudaTensor& x = as_cuda(*task.inputs[0]);
  auto y = task.in_place && x.with_gradient() ? std::make_unique<CudaTensor>(x, std::in_place)
                                              : std::make_unique<CudaTensor>(to, true);
  auto operation = std::make_unique<PositionEmbeddingOperation>(context, task, x, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cuda
