#include "common/network/infer.h"
#include "tests/numeric/layers/cases.h"
#include "tests/numeric/layers/reference.h"

namespace ballast::layers {
namespace {

std::vector<Shape> shapes_of(std::span<const Values> inputs) {
  std::vector<Shape> shapes;
  for (const Values& input : inputs) {
    shapes.push_back(input.shape);
  }
  return shapes;
}

Shape draw_shape(Draw& draw) {
  return {draw.between(1, 3), draw_channels(draw), draw.between(1, 5), draw.between(1, 5), draw.between(1, 3)};
}

}  // namespace

Values output_of(const Add& /*add*/, const Given& given) {
  Values y(given.x().shape);
  for (const Values& input : given.inputs) {
    for (std::size_t i = 0; i < y.values.size(); ++i) {
      y.values[i] += input.values[i];
    }
  }
  return y;
}

LayerCase draw_add(Draw& draw, std::uint32_t /*number*/) {
  return {.layer = Add{}, .inputs = std::vector<Shape>(draw.between(2, 4), draw_shape(draw))};
}

Values output_of(const Concatenate& concatenate, const Given& given) {
  Values y(output_shape(concatenate, shapes_of(given.inputs)));
  y.values.clear();
  for (std::size_t row = 0; row < y.shape.rows(); ++row) {
    for (const Values& input : given.inputs) {
      const auto begin = input.values.begin() + static_cast<std::ptrdiff_t>(input.index(row, 0, 0, 0));
      y.values.insert(y.values.end(), begin, begin + static_cast<std::ptrdiff_t>(input.shape.features()));
    }
  }
  return y;
}

// Whole blocks of one size in every third case, which the backend may leave in blocks.
LayerCase draw_concatenate(Draw& draw, std::uint32_t number) {
  std::vector<Shape> inputs(draw.between(2, 4), draw_shape(draw));
  for (Shape& input : inputs) {
    input.c = number % 3 == 0 ? 16 * draw.between(1, 2) : draw_channels(draw);
  }
  return {.layer = Concatenate{}, .inputs = inputs};
}

Values output_of(const Reshape& reshape, const Given& given) {
  Values y = given.x();
  y.shape = output_shape(reshape, shapes_of(given.inputs));
  return y;
}

LayerCase draw_reshape(Draw& draw, std::uint32_t /*number*/) {
  const Shape x = draw_shape(draw);
  Reshape reshape;
  reshape.join_steps = draw.between(0, 1) == 1;
  if (draw.between(0, 1) == 1) {
    reshape.height = x.w;
    reshape.width = x.h;
  }
  return {.layer = reshape, .inputs = {x}};
}

}  // namespace ballast::layers
