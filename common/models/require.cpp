#include "common/models/require.h"

#include "common/models/misfit.h"

namespace ballast {
namespace {

std::string labels_text(const ExampleShape& shape) {
  const auto number = std::to_string(shape.classes);
  switch (shape.labels) {
    case Labels::classes:
      break;
    case Labels::several:
      return "any of " + number + " classes";
    case Labels::numbers:
      return number + " numbers to be predicted";
    case Labels::steps:
      return "one of " + number + " classes at each step";
  }
  return number + " classes";
}

bool is_sequence(const ExampleShape& shape) { return shape.steps > 0 || shape.vocabulary > 0; }

bool is_text(const ExampleShape& shape) { return shape.steps > 0 && shape.vocabulary > 0 && !shape.trees; }

bool is_image(const ExampleShape& shape) {
  return !is_sequence(shape) && shape.channels > 0 && shape.height > 1 && shape.width > 1;
}

// A softmax of one class would always be right.
bool has_label(const ExampleShape& shape) {
  return shape.labels != Labels::steps && shape.classes >= (shape.labels == Labels::classes ? 2 : 1);
}

void require(bool fits, const std::string& model, const std::string& needs, const ExampleShape& shape) {
  if (!fits) {
    throw ModelMisfit("model.name", model + " needs " + needs + ", but the data set's are " + described(shape) +
                                        "; choose another model, or another data set in data.name");
  }
}

}  // namespace

std::string described(const ExampleShape& shape) {
  const auto values =
      std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " + std::to_string(shape.width);
  if (!is_sequence(shape)) {
    return values + " with " + labels_text(shape);
  }
  const auto steps = std::to_string(shape.steps);
  const auto of = shape.vocabulary > 0 ? std::to_string(shape.vocabulary) + " tokens" : values;
  return (shape.trees ? "trees of up to " + steps + " nodes of " : "sequences of up to " + steps + " steps of ") + of +
         " with " + labels_text(shape);
}

void require_labelled(const std::string& model, const ExampleShape& shape) {
  require(!is_sequence(shape) && shape.features() > 0 && has_label(shape), model,
          "examples of at least one value, each of one of two or more classes or with numbers to be predicted", shape);
}

void require_labelled_images(const std::string& model, const ExampleShape& shape, std::uint32_t smallest) {
  const auto size = std::to_string(smallest);
  require(is_image(shape) && shape.height >= smallest && shape.width >= smallest && has_label(shape), model,
          "images of at least " + size + " x " + size + " with labels", shape);
}

void require_values(const std::string& model, const ExampleShape& shape) {
  require(!is_sequence(shape) && shape.features() > 0, model, "images or vectors", shape);
}

void require_images(const std::string& model, const ExampleShape& shape) {
  require(is_image(shape), model, "images", shape);
}

void require_labelled_text(const std::string& model, const ExampleShape& shape) {
  require(is_text(shape) && has_label(shape), model, "texts (sequences of tokens) with one label each", shape);
}

void require_labelled_trees(const std::string& model, const ExampleShape& shape) {
  require(shape.trees && shape.steps > 0 && shape.vocabulary > 0 && shape.labels == Labels::steps && shape.classes >= 2,
          model, "trees of tokens with a class at each node", shape);
}

void require_next_tokens(const std::string& model, const ExampleShape& shape) {
  require(is_text(shape) && shape.labels == Labels::steps && shape.classes == shape.vocabulary && shape.classes >= 2,
          model, "sequences of tokens whose labels are the tokens that follow", shape);
}

void require_positive(const std::string& key, std::uint32_t value) {
  if (value == 0) {
    throw ModelMisfit(key, "0 is too few; at least 1 is needed");
  }
}

}  // namespace ballast
