#include "cli/data/section_text.h"

#include "common/job/yaml_tree.h"

namespace ballast {
namespace {

constexpr std::size_t kKept = 1000;  // corrupt examples whose texts are told

}  // namespace

std::string yaml_listed(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) {
    all += (all.empty() ? "" : ", ") + yaml_quoted(word);
  }
  return all;
}

SectionText::SectionText(const DataSpec& spec) : yaml_("data:\n") {
  raw("name", spec.name);
  text("path", spec.path);
  text("train", spec.train);
  if (!spec.test.empty()) {
    text("test", spec.test);
  }
}

void SectionText::text(const std::string& key, const std::string& value) { raw(key, yaml_quoted(value)); }

void SectionText::list(const std::string& key, const std::vector<std::string>& values) {
  raw(key, "[" + yaml_listed(values) + "]");
}

void SectionText::raw(const std::string& key, const std::string& yaml) { line(key + ": " + yaml); }

void SectionText::comment(const std::string& words) { line("# " + words); }

void SectionText::line(const std::string& yaml) { yaml_ += "  " + yaml + "\n"; }

std::string class_counts(const std::string& split, const std::vector<std::string>& classes,
                         const std::vector<std::uint64_t>& by_class, std::uint64_t corrupt) {
  std::string text = split + ":";
  for (std::size_t i = 0; i < by_class.size(); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(by_class[i]) + " " + classes[i];
  }
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

}  // namespace ballast
