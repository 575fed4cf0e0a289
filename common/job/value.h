// One value of a file, as its key wants it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/job/schema.h"
#include "common/job/yaml_tree.h"

namespace ballast {

// What is wrong with a value; thrown to whoever knows its place.
struct Unfit {
  std::string text;
  std::size_t line = 0;     // of the file, where it is not the line of the key; 0: it is
  std::string within = {};  // behind the key's path: "[3] 'conv2'"
};

// The same of a list, all that is wrong with it.
struct Unfits {
  std::vector<Unfit> all;
};

// Fills the key's target. Throws Unfit or Unfits.
void read_value(const Key& key, const YamlNode& node);

// "nothing", "a list", "a section", or the text in quotes.
std::string kind_name(const YamlNode& node);

// The text of a scalar; Unfit for others, saying that `wanted` is needed.
const std::string& scalar(const YamlNode& node, const std::string& wanted);

// 1 to `most` of A-Z a-z 0-9 . _ -
bool is_name(const std::string& text, std::size_t most);

// What is told of a key that is required and missing.
std::string missing_text(const Key& key);

}  // namespace ballast
