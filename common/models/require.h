// What the built-in networks ask of examples, in words for a user. All throw ModelMisfit.
#pragma once

#include <cstdint>
#include <string>

#include "common/network/shape.h"

namespace ballast {

// "3 x 32 x 32 with 10 classes", "sequences of up to 400 steps of 20000 tokens with 20 classes", ...
std::string described(const ExampleShape& shape);

// Images or vectors, each with one label: a class, several, or numbers.
void require_labelled(const std::string& model, const ExampleShape& shape);

// Images, at least `smallest` high and wide, each with one label.
void require_labelled_images(const std::string& model, const ExampleShape& shape, std::uint32_t smallest);

// Images or vectors; labels do not matter.
void require_values(const std::string& model, const ExampleShape& shape);

// Images; labels do not matter.
void require_images(const std::string& model, const ExampleShape& shape);

// Sequences of tokens, each with one label.
void require_labelled_text(const std::string& model, const ExampleShape& shape);

// Trees of tokens with a class at each node.
void require_labelled_trees(const std::string& model, const ExampleShape& shape);

// Sequences of tokens with a token as the label of each step.
void require_next_tokens(const std::string& model, const ExampleShape& shape);

// `value` is the model's `key`.
void require_positive(const std::string& key, std::uint32_t value);

}  // namespace ballast
