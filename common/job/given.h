// What a file and its overrides give, key by key, and what is wrong with it.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/job/schema.h"
#include "common/job/yaml_tree.h"

namespace ballast {

// Where a value was written.
struct Place {
  std::size_t line = 0;     // of the file, from 1; 0: nowhere in it
  std::string option = {};  // of the command line that it was typed as, "--set" or another; empty: it was not

  [[nodiscard]] bool is_override() const { return !option.empty(); }
};

// Collects mistakes so that all are told at once.
class Mistakes {
 public:
  explicit Mistakes(std::string label) : label_(std::move(label)) {}

  // `path` is the key concerned; `text` says what is wrong; what is allowed; what may have been meant.
  void add(Place place, const std::string& path, const std::string& text);

  [[nodiscard]] std::size_t size() const { return mistakes_.size(); }

  // Throws ConfigError if there are any: those of the file by line, then those of overrides.
  void throw_if_any();

 private:
  struct Mistake {
    Place place;
    std::string text;
  };

  std::string label_;
  std::vector<Mistake> mistakes_;
};

// A value and its place, by the path of its key. Holds known keys only.
struct GivenValue {
  YamlNode node;
  Place place;
};
using Given = std::map<std::string, GivenValue>;

// Walks the file's tree by the schema; unknown keys and sections that are no maps become mistakes.
Given collect(const Schema& schema, const YamlNode& root, Mistakes& mistakes);

// Replaces values by those of "key.path=value" texts, the value in YAML; an empty value takes the key away, so that its
// default counts. Of two for one key the later counts. "--workers cluster.workers=8" names the option that was typed
// instead of --set.
void apply_overrides(const Schema& schema, std::span<const std::string> overrides, Given& given, Mistakes& mistakes);

// Fills the targets of the schema's keys. Every value that does not fit its key becomes a mistake, and so does a
// required key that is missing. Returns the keys that could not be read.
std::vector<std::string> fill(const Schema& schema, const Given& given, Mistakes& mistakes);

}  // namespace ballast
