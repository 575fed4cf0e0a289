// `ballast data describe` of messages and of sentences as trees.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/data/class_order.h"
#include "cli/data/described_kinds.h"
#include "cli/data/folder_warnings.h"
#include "cli/data/section_text.h"
#include "common/job/words.h"
#include "common/text/shell_word.h"
#include "worker/data/example_files.h"
#include "worker/data/lines.h"
#include "worker/data/text/message.h"
#include "worker/data/text/text_files.h"
#include "worker/data/text/tokenizer.h"
#include "worker/data/text/tree.h"
#include "worker/data/text/vocabulary.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kUsualVocabulary = 20000;     // as `ballast data vocabulary` makes it if it is not told
constexpr std::uint32_t kMostSteps = 1U << 16U;       // that are suggested
constexpr const char* kVocabularyFile = "words.txt";  // beside the data

std::string vocabulary_command(const DataSpec& spec) {
  std::error_code ignored;
  const fs::path root = spec.path;
  const auto file = (fs::is_directory(root, ignored) ? root : root.parent_path()) / kVocabularyFile;
  std::string command = "ballast data vocabulary " + shell_word(spec.path) + " --train " + shell_word(spec.train);
  command += spec.name == "trees" ? " --as trees" : "";
  command += spec.strip.headers ? " --strip-headers" : "";
  command += spec.strip.quotes ? " --strip-quotes" : "";
  command += spec.strip.signature ? " --strip-signature" : "";
  return command + " -o " + shell_word(file.string());
}

void tell_vocabulary(const DataSpec& spec, const WordCounts& words, SectionText& section) {
  section.comment(std::to_string(words.different()) +
                  " different words in the train split; this writes the most frequent ones:");
  section.comment(vocabulary_command(spec));
  section.number("vocabulary", words.most_frequent(kUsualVocabulary, 1).size());
  section.text("vocabulary_file", kVocabularyFile);
}

// The longest, and a length that most do not exceed.
struct Lengths {
  std::vector<std::uint32_t> all;

  [[nodiscard]] std::uint32_t at(double part) {
    if (all.empty()) {
      return 1;
    }
    std::ranges::sort(all);
    return std::max(1U, all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))]);
  }
};

struct TextFacts {
  std::map<std::string, std::uint64_t> by_class;  // a folder whose messages are all corrupt is a class, too
  std::uint64_t good = 0;
  std::uint64_t latin1 = 0;  // messages that are not UTF-8
  CorruptList corrupt;
  LeftAside aside;         // files that are no messages
  LeftAside::Kind binary;  // messages that hold a byte 0
  Lengths lengths;
  WordCounts words;
};

TextFacts read_messages(const DataSpec& spec, const std::string& split) {
  TextFacts facts;
  const auto take = [&](const TextFile& file, std::string bytes, const std::string& fault) {
    const auto path = file.split + "/" + file.folder + "/" + file.name;
    auto& of_class = facts.by_class[file.folder];
    if (!fault.empty()) {
      facts.corrupt.add(spec.path + ": " + path + ": " + fault);
      return;
    }
    if (bytes.find('\0') != std::string::npos) {
      facts.binary.add(path);
    }
    facts.latin1 += is_utf8(bytes) ? 0 : 1;
    std::uint32_t length = 0;
    for_each_token(strip_message(message_text(std::move(bytes)), spec.strip), [&](std::string_view word) {
      facts.words.add(word);
      ++length;
      return true;
    });
    facts.lengths.all.push_back(length);
    ++of_class;
    ++facts.good;
  };
  read_text_files(spec.path, {split}, take, &facts.aside);
  facts.aside.dangling = {};  // these are told as corrupt examples
  if (facts.good == 0) {
    throw std::runtime_error(spec.path + ": " + split + ": no message can be read" + facts.corrupt.all_text());
  }
  return facts;
}

std::vector<std::uint64_t> counts_of(const TextFacts& facts, const std::vector<std::string>& classes,
                                     const std::string& where) {
  std::vector<std::uint64_t> counts(classes.size());
  for (const auto& [name, count] : facts.by_class) {
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end()) {
      throw std::runtime_error(where + "/" + name +
                               " is a folder of messages, but the train split has no class of this name; name other "
                               "splits with --train and --test, or take the folder away");
    }
    counts[static_cast<std::size_t>(found - classes.begin())] = count;
  }
  return counts;
}

// Of what lies in a split beside its messages, and of messages that are hardly any.
void warn_of_messages(const DataSpec& spec, const std::string& split, const TextFacts& facts,
                      std::vector<std::string>& warnings) {
  const auto take = [&](const std::vector<std::string>& texts) {
    std::ranges::copy(texts, std::back_inserter(warnings));
  };
  take(empty_folder_warnings(fs::path(spec.path) / split, spec.classes));
  take(aside_warnings(split, facts.aside));
  take(counted_warning(split, facts.binary,
                       "files that count as messages, but have bytes that are 0, and are hardly texts",
                       "take them away if they are none: a job reads each file of a class's folder, unless its name "
                       "begins with a dot"));
}

void tell_encoding(const std::string& split, const TextFacts& facts, SectionText& section) {
  if (facts.latin1 > 0) {
    section.comment(split + ": " + std::to_string(facts.latin1) + " of " + std::to_string(facts.good) +
                    " messages are not UTF-8, and read as ISO-8859-1");
  }
}

void require_words(const DataSpec& spec, const WordCounts& words) {
  if (words.different() == 0) {
    throw std::runtime_error(spec.path + ": " + spec.train + " holds no word" +
                             (spec.strip.headers || spec.strip.quotes || spec.strip.signature
                                  ? " once --strip-... has taken its part; leave that out"
                                  : "; name other files"));
  }
}

void tell_split(const std::string& split, const std::vector<std::string>& classes,
                const std::vector<std::uint64_t>& counts, std::uint64_t corrupt, SectionText& section) {
  std::uint64_t all = 0;
  for (const auto count : counts) {
    all += count;
  }
  section.comment(class_counts(split, classes, counts, corrupt));
  section.examples(split, all);
}

Description finished(SectionText section, const CorruptList& train, const CorruptList& test,
                     std::vector<std::string> warnings) {
  Description found{.section = {}, .corrupt = texts_of(train, test), .warnings = std::move(warnings)};
  section.corrupt(found.corrupt);
  found.section = section.yaml();
  return found;
}

void tell_strip(const StripSpec& strip, SectionText& section) {
  std::vector<std::string> parts;
  for (const auto& [given, name] : {std::pair(strip.headers, "headers"), std::pair(strip.quotes, "quotes"),
                                    std::pair(strip.signature, "signature")}) {
    if (given) {
      parts.push_back(std::string(name) + ": true");
    }
  }
  std::string all;
  for (const auto& part : parts) {
    all += (all.empty() ? "" : ", ") + part;
  }
  if (!all.empty()) {
    section.raw("strip", "{" + all + "}");
  }
}

struct TreeFacts {
  std::vector<std::uint64_t> roots;  // by label
  std::int32_t largest = 0;          // label of any node
  std::uint32_t nodes = 1;           // of the largest tree
  std::uint64_t undecoded = 0;       // lines that are not UTF-8
  CorruptList corrupt;
  WordCounts words;
};

void add_tree(const std::vector<TreeNode>& nodes, TreeFacts& facts) {
  constexpr std::int32_t kMostLabels = 1000;
  for (const auto& node : nodes) {
    if (node.label >= kMostLabels) {
      throw BadTree(1, "has label " + std::to_string(node.label) + "; labels are numbers from 0 on");
    }
  }
  for (const auto& node : nodes) {
    facts.largest = std::max(facts.largest, node.label);
    if (!node.word.empty()) {
      facts.words.add(lower_case(node.word));
    }
  }
  const auto root = static_cast<std::size_t>(nodes.back().label);
  facts.roots.resize(std::max(facts.roots.size(), root + 1));
  ++facts.roots[root];
  facts.nodes = std::max(facts.nodes, static_cast<std::uint32_t>(nodes.size()));
}

TreeFacts read_trees(const DataSpec& spec, const std::string& name, const char* key) {
  TreeFacts facts;
  LineReader lines(example_file(spec.path, name, key));
  while (const auto line = lines.next()) {
    if (line->find_first_not_of(" \t") == std::string_view::npos) {
      continue;
    }
    try {
      add_tree(parse_tree(*line), facts);
      facts.undecoded += is_utf8(*line) ? 0 : 1;
    } catch (const BadTree& bad) {
      facts.corrupt.add(lines.where() + ", column " + std::to_string(bad.column) + ": " + bad.what());
    }
  }
  if (facts.roots.empty()) {
    throw std::runtime_error(lines.path().string() + ": holds no tree" + facts.corrupt.all_text());
  }
  return facts;
}

void warn_of_encoding(const std::string& name, const TreeFacts& facts, std::vector<std::string>& warnings) {
  if (facts.undecoded > 0) {
    warnings.push_back(name + ": " + std::to_string(facts.undecoded) +
                       " lines are not UTF-8, and their words will be taken byte by byte; save the file as UTF-8");
  }
}

// With polarity 0 and 1 are one class, 3 and 4 the other, and 2 is none.
std::vector<std::uint64_t> class_roots(const std::vector<std::uint64_t>& roots, std::size_t classes, bool polarity) {
  constexpr std::size_t kMiddle = 2;
  std::vector<std::uint64_t> counts(classes);
  for (std::size_t label = 0; label < roots.size(); ++label) {
    if (!polarity) {
      counts[label] = roots[label];
    } else if (label != kMiddle) {
      counts[label > kMiddle ? 1 : 0] += roots[label];
    }
  }
  return counts;
}

// The names of the classes, in the order of their labels.
std::vector<std::string> tree_classes(const DataSpec& spec, std::int32_t largest, bool polarity) {
  if (polarity && largest > 4) {
    throw std::runtime_error(spec.path + ": a node has label " + std::to_string(largest) +
                             "; with --tree-labels polarity they are 0 to 4: leave it out");
  }
  if (polarity) {
    return {"negative", "positive"};
  }
  if (largest == 0) {
    throw std::runtime_error(spec.path + ": all nodes have label 0; at least two classes are needed");
  }
  std::vector<std::string> classes;
  for (std::int32_t label = 0; label <= largest; ++label) {
    classes.push_back(std::to_string(label));
  }
  return classes;
}

// The labels of a split's roots, by class.
std::vector<std::uint64_t> counted_roots(const TreeFacts& facts, const DataSpec& spec, const std::string& name,
                                         bool polarity) {
  auto counts = class_roots(facts.roots, spec.classes.size(), polarity);
  if (std::ranges::all_of(counts, [](auto count) { return count == 0; })) {
    throw std::runtime_error(spec.path + ": " + name +
                             ": the root of every tree has label 2, and with --tree-labels polarity these are no "
                             "examples; leave it out");
  }
  return counts;
}

}  // namespace

Description describe_text(const DescribeOptions& options, DataSpec spec) {
  constexpr double kMost = 0.95;
  spec.strip = options.strip;
  auto train = read_messages(spec, spec.train);
  const auto test = spec.test.empty() ? TextFacts() : read_messages(spec, spec.test);
  for (const auto& [name, count] : train.by_class) {
    spec.classes.push_back(name);
  }
  spec.classes = in_class_order(spec.classes);
  if (spec.classes.size() < 2) {
    throw std::runtime_error(spec.path + ": " + spec.train + " has one folder with messages alone, " +
                             shown(spec.classes[0]) + "; at least two classes are needed, a folder each");
  }
  require_words(spec, train.words);
  SectionText section(spec);
  section.list("classes", spec.classes);
  tell_strip(spec.strip, section);
  section.comment("tokens of a message of the train split: median " + std::to_string(train.lengths.at(0.5)) +
                  ", 95 % have at most " + std::to_string(train.lengths.at(kMost)) + ", the longest " +
                  std::to_string(train.lengths.at(1)));
  section.number("steps", std::min(train.lengths.at(kMost), kMostSteps));
  tell_vocabulary(spec, train.words, section);
  tell_encoding("train", train, section);
  tell_split("train", spec.classes, counts_of(train, spec.classes, spec.path + ": " + spec.train),
             train.corrupt.count(), section);
  std::vector<std::string> warnings;
  warn_of_messages(spec, spec.train, train, warnings);
  if (!spec.test.empty()) {
    tell_encoding("test", test, section);
    tell_split("test", spec.classes, counts_of(test, spec.classes, spec.path + ": " + spec.test), test.corrupt.count(),
               section);
    warn_of_messages(spec, spec.test, test, warnings);
  }
  return finished(section, train.corrupt, test.corrupt, std::move(warnings));
}

Description describe_trees(const DescribeOptions& options, DataSpec spec) {
  const auto train = read_trees(spec, spec.train, "train");
  const auto test = spec.test.empty() ? TreeFacts() : read_trees(spec, spec.test, "test");
  const bool polarity = options.tree_labels == "polarity";
  spec.classes = tree_classes(spec, std::max(train.largest, test.largest), polarity);
  require_words(spec, train.words);
  std::vector<std::string> warnings;
  warn_of_encoding(spec.train, train, warnings);
  warn_of_encoding(spec.test, test, warnings);
  SectionText section(spec);
  section.list("classes", spec.classes);
  if (polarity) {
    section.raw("tree_labels", "polarity");
  }
  section.comment("nodes of the largest tree");
  section.number("steps", std::max(train.nodes, test.nodes));
  tell_vocabulary(spec, train.words, section);
  section.comment("labels of the roots:");
  tell_split("train", spec.classes, counted_roots(train, spec, spec.train, polarity), train.corrupt.count(), section);
  if (!spec.test.empty()) {
    tell_split("test", spec.classes, counted_roots(test, spec, spec.test, polarity), test.corrupt.count(), section);
  }
  return finished(section, train.corrupt, test.corrupt, std::move(warnings));
}

}  // namespace ballast
