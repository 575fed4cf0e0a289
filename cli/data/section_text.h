// The data section of a job file as text, key by key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

class SectionText {
 public:
  // Begins with the set's name, its path and its splits.
  explicit SectionText(const DataSpec& spec);

  // Both throw std::runtime_error for a text that no job file can hold.
  void text(const std::string& key, const std::string& value);
  void list(const std::string& key, const std::vector<std::string>& values);
  void number(const std::string& key, std::uint64_t value) { raw(key, std::to_string(value)); }
  // The number of a split's examples, as far as a job may count on them.
  void examples(const std::string& split, std::uint64_t count);
  // `corrupt: skip` if there are any.
  void corrupt(const std::vector<std::string>& texts);
  void raw(const std::string& key, const std::string& yaml);
  void comment(const std::string& words);
  void line(const std::string& yaml);  // within the section
  [[nodiscard]] const std::string& yaml() const { return yaml_; }

 private:
  std::string where_;  // the data, for errors
  std::string yaml_;
};

// A word of a command line that is told, in single quotes where a shell needs them.
std::string shell_word(const std::string& word);

// "SPLIT: 12 cat, 13 dog; 2 corrupt"; of very many classes the first.
std::string class_counts(const std::string& split, const std::vector<std::string>& classes,
                         const std::vector<std::uint64_t>& by_class, std::uint64_t corrupt);

// Corrupt examples; of very many the first are kept.
class CorruptList {
 public:
  void add(const std::string& text);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // The texts; how many more there are as the last one.
  [[nodiscard]] std::vector<std::string> texts() const;
  // "; all N are corrupt, the first: ..." where nothing else is; empty if nothing is corrupt.
  [[nodiscard]] std::string all_text() const;

 private:
  std::vector<std::string> kept_;
  std::uint64_t count_ = 0;
};

// Those of both splits.
std::vector<std::string> texts_of(const CorruptList& train, const CorruptList& test);

}  // namespace ballast
