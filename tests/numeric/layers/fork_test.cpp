// A value that several layers read, on every backend.
#include <doctest/doctest.h>

#include <vector>

#include "tests/numeric/backends.h"
#include "tests/numeric/draw.h"

namespace ballast::layers {
namespace {

TEST_CASE("layers: gradients of a value that several read are summed in their order") {
  const Shape shape{2, 3, 4, 5, 2};
  Draw draw(1);
  const auto values = draw.values<float>(shape.elements());
  for (const std::size_t uses : {2U, 3U, 5U}) {
    CAPTURE(uses);
    std::vector<std::vector<float>> gradients;
    for (std::size_t i = 0; i < uses; ++i) {
      gradients.push_back(draw.values<float>(shape.elements()));
    }
    for (const NamedBackend& named : backends_under_test()) {
      CAPTURE(named.name);
      const auto backend = named.make();
      const auto x = backend->input(shape, true);
      const Forked forked = backend->fork(*x, uses);
      REQUIRE(forked.outputs.size() == uses);
      backend->write(*x, values);
      forked.operation->forward();
      std::vector<float> read(shape.elements());
      for (std::size_t i = 0; i < uses; ++i) {
        backend->read(*forked.outputs[i], read);
        CHECK(read == values);
        backend->write_gradient(*forked.outputs[i], gradients[i]);
      }
      forked.operation->backward_input();
      auto sum = gradients[0];
      for (std::size_t i = 1; i < uses; ++i) {
        for (std::size_t j = 0; j < sum.size(); ++j) {
          sum[j] += gradients[i][j];
        }
      }
      backend->read_gradient(*x, read);
      CHECK(read == sum);
    }
  }
}

}  // namespace
}  // namespace ballast::layers
