// What tapes and networks do on devices that the cpu is not like.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "tests/numeric/setup.h"
#include "tests/unit/worker/compute/wrapped_backend.h"
#include "worker/models/model.h"

namespace ballast {
namespace {

using namespace testing;

TEST_CASE("what comes late is waited for after all work is queued: gradients in their order, then the loss") {
  const Setup setup(model_named("lenet5"), kImages);
  const Examples examples = draw_examples(setup.shape, 6, 1);
  const auto expected = setup.gradients(*setup.make(), {0, 0, 6, 1}, examples.batch());
  std::vector<std::string> happened;
  const auto model = make_model(setup.spec, setup.shape, setup.arena,
                                [&]() -> std::unique_ptr<Backend> { return std::make_unique<LateBackend>(happened); });
  for (int again = 0; again < 2; ++again) {
    happened.clear();
    std::vector<float> gradients(setup.arena.elements);
    std::vector<std::size_t> order;
    model->train({0, 0, 6, 1}, examples.batch(), setup.weights, gradients, [&](std::size_t parameter) {
      order.push_back(parameter);
      const auto [offset, elements] = setup.arena.extents[parameter];
      CHECK(std::ranges::equal(std::span(gradients).subspan(offset, elements),
                               std::span(expected).subspan(offset, elements)));
    });
    CHECK(order == std::vector<std::size_t>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
    std::vector<std::string> in_order(10, "deliver");
    in_order.resize(20, "await");
    in_order.emplace_back("sums");
    CHECK(happened == in_order);
  }
}

TEST_CASE("a pass that was broken off leaves no gradient to wait for") {
  const Setup setup(small_mlp(), kImages);
  const Examples examples = draw_examples(setup.shape, 3, 1);
  std::vector<std::string> happened;
  const auto model = make_model(setup.spec, setup.shape, setup.arena,
                                [&]() -> std::unique_ptr<Backend> { return std::make_unique<LateBackend>(happened); });
  std::vector<float> gradients(setup.arena.elements);
  const auto train = [&](const Model::GradientReady& ready) {
    model->train({0, 0, 3, 1}, examples.batch(), setup.weights, gradients, ready);
  };
  CHECK_THROWS_AS(train([](std::size_t) { throw std::runtime_error("enough"); }), std::runtime_error);
  std::size_t announced = 0;
  train([&](std::size_t) { ++announced; });
  CHECK(announced == setup.arena.parameters.size());
}

struct OnSmallDevice {
  explicit OnSmallDevice(std::uint32_t room)
      : model(make_model(setup.spec, setup.shape, setup.arena,
                         [room]() -> std::unique_ptr<Backend> { return std::make_unique<SmallBackend>(room); })) {}
  std::uint32_t evaluate(std::uint32_t count) {
    return model->evaluate(draw_examples(setup.shape, count, 1).batch(), setup.weights).examples;
  }

  Setup setup{small_mlp(), kImages};
  std::unique_ptr<Model> model;
};

TEST_CASE("a batch that the device has no room for is refused with the largest that fits") {
  OnSmallDevice device(37);
  CHECK(device.evaluate(37) == 37);
  CHECK_THROWS_WITH_AS(
      device.evaluate(100),
      "no room for 100 x 1 x 28 x 28. The model does not fit into the device's memory with 100 examples "
      "at once; with 37 it would. A slot has training.batch / training.slots examples: more slots are "
      "smaller",
      std::runtime_error);
  CHECK_THROWS_WITH_AS(device.evaluate(38), doctest::Contains("with 37 it would"), std::runtime_error);
  CHECK(device.evaluate(37) == 37);
}

TEST_CASE("batch sizes that are not in use make room") {
  OnSmallDevice device(40);
  CHECK(device.evaluate(30) == 30);
  CHECK(device.evaluate(20) == 20);
  CHECK(device.evaluate(30) == 30);
}

// Notes what takes memory of the device.
class NotingBackend : public WrappedBackend {
 public:
  explicit NotingBackend(std::vector<std::string>& happened) : happened_(happened) {}

  void reserve_arenas(std::size_t elements) override { happened_.push_back("arenas of " + std::to_string(elements)); }
  std::unique_ptr<Tensor> input(const Shape& shape, bool with_gradient) override {
    happened_.push_back("input of " + to_string(shape));
    return inner_->input(shape, with_gradient);
  }

 private:
  std::vector<std::string>& happened_;
};

TEST_CASE("the arenas' room is taken before any network's") {
  const Setup setup(small_mlp(), kImages);
  std::vector<std::string> happened;
  make_model(setup.spec, setup.shape, setup.arena,
             [&]() -> std::unique_ptr<Backend> { return std::make_unique<NotingBackend>(happened); });
  CHECK(happened ==
        std::vector<std::string>{"arenas of " + std::to_string(setup.arena.elements), "input of 1 x 1 x 28 x 28"});
}

TEST_CASE("a model that does not fit with one example says so when it is made") {
  CHECK_THROWS_AS(OnSmallDevice(0), DeviceMemoryExhausted);
}

}  // namespace
}  // namespace ballast
