#include "cli/data/section_text.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "cli/data/portable_yaml.h"
#include "common/job/words.h"
#include "common/job/yaml_tree.h"
#include "common/text/text.h"

namespace ballast {
namespace {

constexpr std::size_t kKept = 1000;         // corrupt examples whose texts are told
constexpr std::size_t kMostCounted = 1000;  // classes whose examples are told

// As the job file's reader has it.
void require_holdable(const std::string& where, const std::string& key, const std::string& value) {
  constexpr std::size_t kLongest = 4096;
  auto fault = text_fault(value, TextKind::line);
  if (!fault && value.size() > kLongest) {
    fault = "more than " + std::to_string(kLongest) + " bytes";
  }
  if (fault) {
    throw std::runtime_error(as_line(where, kLongest) + ": data." + key + ": " + shown(value) + " has " + *fault +
                             ", which a job file cannot hold; rename it");
  }
}

}  // namespace

SectionText::SectionText(const DataSpec& spec) : where_(spec.path), yaml_("data:\n") {
  raw("name", spec.name);
  text("path", spec.path);
  text("train", spec.train);
  if (!spec.test.empty()) {
    text("test", spec.test);
  }
}

void SectionText::text(const std::string& key, const std::string& value) {
  require_holdable(where_, key, value);
  raw(key, portable_text(value));
}

void SectionText::list(const std::string& key, const std::vector<std::string>& values) {
  for (const auto& value : values) {
    require_holdable(where_, key, value);
  }
  raw(key, "[" + portable_list(values) + "]");
}

void SectionText::raw(const std::string& key, const std::string& yaml) { line(key + ": " + yaml); }

void SectionText::examples(const std::string& split, std::uint64_t count) {
  constexpr std::uint64_t kMost = 16'000'000;
  if (count > kMost) {
    comment("the first " + std::to_string(kMost) + " of " + std::to_string(count) + ": a job counts on no more");
  }
  number(split + "_examples", std::min(count, kMost));
}

void SectionText::corrupt(const std::vector<std::string>& texts) {
  if (!texts.empty()) {
    raw("corrupt", "skip");
  }
}

// Names from elsewhere may be in it: a line break would end the comment.
void SectionText::comment(const std::string& words) { line("# " + as_line(words, kMaxYamlBytes)); }

void SectionText::line(const std::string& yaml) { yaml_ += "  " + yaml + "\n"; }

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                          "0123456789_-./+,:=@") == std::string::npos;
  if (plain) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string class_counts(const std::string& split, const std::vector<std::string>& classes,
                         const std::vector<std::uint64_t>& by_class, std::uint64_t corrupt) {
  std::string text = split + ":";
  const auto counted = std::min(by_class.size(), kMostCounted);
  for (std::size_t i = 0; i < counted; ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(by_class[i]) + " " + classes[i];
  }
  text += counted < by_class.size() ? ", and " + std::to_string(by_class.size() - counted) + " more classes" : "";
  return text + (corrupt == 0 ? "" : "; " + std::to_string(corrupt) + " corrupt");
}

void CorruptList::add(const std::string& text) {
  if (++count_ <= kKept) {
    kept_.push_back(text);
  }
}

std::vector<std::string> CorruptList::texts() const {
  auto texts = kept_;
  if (count_ > kept_.size()) {
    texts.push_back("and " + std::to_string(count_ - kept_.size()) + " more");
  }
  return texts;
}

std::string CorruptList::all_text() const {
  return count_ == 0 ? "" : "; all " + std::to_string(count_) + " are corrupt, the first: " + kept_[0];
}

std::vector<std::string> texts_of(const CorruptList& train, const CorruptList& test) {
  auto texts = train.texts();
  std::ranges::copy(test.texts(), std::back_inserter(texts));
  return texts;
}

}  // namespace ballast
