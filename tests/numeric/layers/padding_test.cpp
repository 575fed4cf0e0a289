// The cpu's blocked layouts pad channels with zeros, which convolutions multiply with zeros: what is there must stay
// zero, or one not-a-number would be everywhere.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/network/infer.h"
#include "tests/numeric/draw.h"
#include "worker/compute/backend.h"
#include "worker/compute/cpu/cpu_tensor.h"

namespace ballast {
namespace {

constexpr Shape kX{2, 20, 5, 6};  // blocks of 16: 12 channels of padding

constexpr std::size_t kPlace = 4096;  // floats of the arena for each parameter: as many as any below has

std::vector<ParameterPlace> places_for(const Layer& layer, const std::vector<Shape>& inputs) {
  std::vector<ParameterPlace> places;
  for (const Parameter& parameter : parameters_of(layer, inputs)) {
    places.push_back({{kPlace * places.size(), parameter.elements()}});
  }
  return places;
}

// Two convolutions' outputs of one shape, and a layer that reads as many of them as it takes.
class Chain {
 public:
  Chain(Backend& backend, const Layer& layer, std::size_t inputs) {
    std::vector<Tensor*> read;
    for (std::size_t i = 0; i < inputs; ++i) {
      Shape from = kX;
      from.c = 16;
      examples_.push_back(backend.input(from));
      Tensor* const example = examples_.back().get();
      Conv2d conv;
      conv.channels = kX.c;
      conv.bias = false;
      const std::vector<ParameterPlace> place = {{{0, std::uint64_t{from.c} * kX.c}}};
      convolutions_.push_back(backend.prepare({Layer(conv), {&example, 1}, place}));
      read.push_back(convolutions_.back().output.get());
    }
    const auto places = places_for(layer, std::vector<Shape>(inputs, kX));
    prepared_ = backend.prepare({layer, read, places});
  }

  [[nodiscard]] Operation& operation() const { return *prepared_.operation; }
  [[nodiscard]] Tensor& y() const { return *prepared_.output; }
  [[nodiscard]] Tensor& x(std::size_t i) const { return *convolutions_[i].output; }

 private:
  std::vector<std::unique_ptr<Tensor>> examples_;
  std::vector<Prepared> convolutions_;
  Prepared prepared_;
};

// All of the memory, padding included.
bool same_memory(const dnnl::memory& a, const dnnl::memory& b) {
  return a.get_desc() == b.get_desc() &&
         std::memcmp(a.get_data_handle(), b.get_data_handle(), a.get_desc().get_size()) == 0;
}

void check_padding(const Layer& layer, std::size_t inputs) {
  CAPTURE(name_of(layer));
  const auto backend = make_cpu_backend(1);
  const Chain chain(*backend, layer, inputs);
  const Chain written(*backend, layer, inputs);  // never runs: what is written to it has zeros for padding
  Draw draw(1);
  const auto weights = draw.values<float>(4 * kPlace);
  std::vector<float> gradients(weights.size());
  Pass pass;
  pass.batch.count = kX.n;
  pass.training = true;
  backend->bind_weights(weights);
  backend->bind_gradients(gradients);
  backend->begin(pass);
  for (std::size_t i = 0; i < inputs; ++i) {
    REQUIRE(cpu::as_cpu(chain.x(i)).value().get_desc().get_size() > kX.elements() * sizeof(float));
    backend->write(chain.x(i), draw.values<float>(kX.elements()));
  }
  chain.operation().forward();
  std::vector<float> y(chain.y().shape().elements());
  backend->read(chain.y(), y);
  backend->write(written.y(), y);
  CHECK(same_memory(cpu::as_cpu(chain.y()).value(), cpu::as_cpu(written.y()).value()));

  backend->write_gradient(chain.y(), draw.values<float>(y.size()));
  chain.operation().backward_parameters();
  chain.operation().backward_input();
  for (std::size_t i = 0; i < inputs; ++i) {
    std::vector<float> gradient(kX.elements());
    backend->read_gradient(chain.x(i), gradient);
    backend->write_gradient(written.x(i), gradient);
    CHECK(same_memory(cpu::as_cpu(chain.x(i)).gradient(), cpu::as_cpu(written.x(i)).gradient()));
  }
}

TEST_CASE("layers: padding of blocked layouts stays zero on the cpu") {
  check_padding(Conv2d{.channels = 20, .kernel = 3}, 1);
  check_padding(BatchNorm{}, 1);
  check_padding(GroupNorm{.groups = 5}, 1);
  check_padding(LayerNorm{}, 1);
  check_padding(MaxPool2d{.window = 3, .stride = 2, .padding = 1}, 1);
  check_padding(AveragePool2d{.window = 3, .stride = 2, .padding = 1}, 1);
  check_padding(GlobalPool2d{}, 1);
  check_padding(Add{}, 2);
  check_padding(Concatenate{}, 2);
  for (const auto kind : {Activation::Kind::relu, Activation::Kind::sigmoid, Activation::Kind::tanh}) {
    check_padding(Activation{kind}, 1);
  }
  check_padding(Dropout{}, 1);
}

TEST_CASE("layers: gradients that a fork sums on the cpu leave padding zero") {
  const auto backend = make_cpu_backend(1);
  const Chain chain(*backend, Add{}, 2);
  const Chain written(*backend, Add{}, 2);
  const Forked forked = backend->fork(chain.y(), 3);
  Draw draw(2);
  for (const auto& output : forked.outputs) {
    backend->write_gradient(*output, draw.values<float>(kX.elements()));
  }
  forked.operation->backward_input();
  std::vector<float> sum(kX.elements());
  backend->read_gradient(chain.y(), sum);
  backend->write_gradient(written.y(), sum);
  CHECK(same_memory(cpu::as_cpu(chain.y()).gradient(), cpu::as_cpu(written.y()).gradient()));
}

}  // namespace
}  // namespace ballast
