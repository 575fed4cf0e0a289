// Dropout: a factor for each value, 0 or 1 / (1 - rate), drawn by the rule of worker/compute/pass.h in the order of the
// values and then brought into the layout of the input, on whose memory it works as it lies.
#include <cmath>
#include <utility>

#include "worker/compute/cpu/dropout_loops.h"
#include "worker/compute/cpu/floats.h"
#include "worker/compute/cpu/layout.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/fit.h"

namespace ballast::cpu {
namespace {

class DropoutOperation : public Operation {
 public:
  DropoutOperation(const Context& context, const LayerTask& task, const Dropout& dropout, const CpuTensor& y)
      : context_(context),
        rate_(dropout.rate),
        number_(task.number),
        drawn_(plain(y.shape()), context.engine),
        factors_(context, drawn_, y.value().get_desc()),
        x_(as_cpu(*task.inputs[0]).value()),
        x_gradient_(as_cpu(*task.inputs[0]).gradient()),
        y_(y.value()),
        y_gradient_(y.gradient()) {}

  void forward() override {
    if (context_.pass->training) {
      const Pass& pass = *context_.pass;
      draw_factors(dropout_stream(pass), first_dropout_draw(pass, number_), rate_, floats(drawn_), floats_in(drawn_),
                   context_.threads);
      factors_.refresh();
      multiply_loop(floats(x_), floats(factors_.memory()), floats(y_), floats_in(y_), context_.threads);
    } else if (floats(x_) != floats(y_)) {
      std::copy_n(floats(x_), floats_in(y_), floats(y_));
    }
  }

  void backward_input() override {
    multiply_loop(floats(y_gradient_), floats(factors_.memory()), floats(x_gradient_), floats_in(y_), context_.threads);
  }

 private:
  const Context& context_;
  float rate_;
  std::uint32_t number_;
  dnnl::memory drawn_;
  Incoming factors_;
  dnnl::memory x_;
  dnnl::memory x_gradient_;
  dnnl::memory y_;
  dnnl::memory y_gradient_;
};

}  // namespace

Prepared make(const Context& context, const LayerTask& task, const Dropout& dropout) {
  const CpuTensor& x = as_cpu(*task.inputs[0]);
  const Shape to = fit(task);
  auto y = task.in_place ? std::make_unique<CpuTensor>(x, std::in_place)
                         : std::make_unique<CpuTensor>(context, to, x.value().get_desc(), x.with_gradient());
  auto operation = std::make_unique<DropoutOperation>(context, task, dropout, *y);
  return {std::move(operation), std::move(y)};
}

}  // namespace ballast::cpu
