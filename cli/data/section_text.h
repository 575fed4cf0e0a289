// The data section of a job file as text, key by key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// "a, b": each quoted where YAML needs it.
std::string yaml_listed(const std::vector<std::string>& words);

class SectionText {
 public:
  // Begins with the set's name, its path and its splits.
  explicit SectionText(const DataSpec& spec);

  void text(const std::string& key, const std::string& value);
  void list(const std::string& key, const std::vector<std::string>& values);
  void number(const std::string& key, std::uint64_t value) { raw(key, std::to_string(value)); }
  void raw(const std::string& key, const std::string& yaml);
  void comment(const std::string& words);
  void line(const std::string& yaml);  // within the section
  [[nodiscard]] const std::string& yaml() const { return yaml_; }

 private:
  std::string yaml_;
};

// "SPLIT: 12 cat, 13 dog; 2 corrupt"
std::string class_counts(const std::string& split, const std::vector<std::string>& classes,
                         const std::vector<std::uint64_t>& by_class, std::uint64_t corrupt);

// Corrupt examples; of very many the first are kept.
class CorruptList {
 public:
  void add(const std::string& text);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The texts; how many more there are as the last one.
  [[nodiscard]] std::vector<std::string> texts() const;

 private:
  std::vector<std::string> kept_;
  std::uint64_t count_ = 0;
};

}  // namespace ballast
