// Sentences as binary parse trees, a label at every node.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/example_files.h"
#include "worker/data/lines.h"
#include "worker/data/text/tokenizer.h"
#include "worker/data/text/tree.h"
#include "worker/data/text/vocabulary.h"

namespace ballast {
namespace {

constexpr std::int32_t kNeutral = 2;  // of five labels
constexpr std::int32_t kUnlabelled = -1;

class TreeSplit {
 public:
  TreeSplit() = default;
  explicit TreeSplit(SourceLines lines) : lines_(std::move(lines)) {}

  [[nodiscard]] std::uint32_t count() const { return tokens_.count(); }
  void read(std::uint32_t index, const ExampleRoom& room) const {
    std::ranges::copy(tokens_.at(index), room.tokens.begin());
    std::ranges::copy(children_.at(index), room.children.begin());
    std::ranges::copy(labels_.at(index), room.labels.begin());
    room.length[0] = static_cast<std::uint32_t>(tokens_.at(index).size());
  }
  [[nodiscard]] std::int32_t label(std::uint32_t index) const { return labels_.at(index).back(); }
  [[nodiscard]] std::string source(std::uint32_t index) const { return lines_.of(index); }
  void keep_first(std::uint32_t count) {
    tokens_.keep_first(count);
    children_.keep_first(count);
    labels_.keep_first(count);
  }
  void add_to(Sha256& digest) const {
    tokens_.add_to(digest);
    children_.add_to(digest);
    labels_.add_to(digest);
  }
  void add(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& children,
           const std::vector<std::int32_t>& labels, std::uint64_t line) {
    lines_.add(line);
    tokens_.add(tokens);
    children_.add(children);
    labels_.add(labels);
  }

 private:
  Sequences tokens_;  // of inner nodes padding: nobody reads it
  Sequences children_;
  Sequences labels_;
  SourceLines lines_;
};

class TreeReader {
 public:
  TreeReader(const DataSpec& spec, const std::string& worker_path, DatasetUse use)
      : spec_(spec),
        use_(use),
        root_(example_root(spec, worker_path)),
        vocabulary_(vocabulary_path(root_, spec), spec.vocabulary),
        polarity_(spec.tree_labels == "polarity") {}

  TreeSplit read(const std::string& name, const char* name_key, std::uint32_t wanted, const char* key) {
    if (name.empty()) {
      return {};
    }
    const auto path = example_file(root_, name, name_key);
    TreeSplit split{SourceLines(path, use_)};
    LineReader lines(path);
    CorruptExamples corrupt(spec_);
    while (const auto line = lines.next()) {
      if (line->find_first_not_of(" \t") == std::string_view::npos) {
        continue;
      }
      try {
        add(parse_tree(*line), split, lines.number());
      } catch (const BadTree& bad) {
        corrupt.found(lines.where() + ", column " + std::to_string(bad.column) + ": " + bad.what());
      }
    }
    left_out_ += corrupt.check(path, split.count(), wanted, key);
    return split;
  }

  // Corrupt examples of all that was read.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] std::int32_t label_of(const TreeNode& node) const {
    const auto labels = polarity_ ? 2 * kNeutral + 1 : static_cast<std::int32_t>(spec_.classes.size());
    if (node.label >= labels) {
      throw BadTree(1, "has label " + std::to_string(node.label) + ", but there are " + std::to_string(labels) +
                           (polarity_ ? " with data.tree_labels: polarity" : " data.classes") + ", from 0 on");
    }
    return !polarity_ ? node.label : node.label == kNeutral ? kUnlabelled : node.label > kNeutral ? 1 : 0;
  }

  void add(const std::vector<TreeNode>& nodes, TreeSplit& split, std::uint64_t line) const {
    if (nodes.size() > spec_.steps) {
      throw BadTree(1, "has " + std::to_string(nodes.size()) + " nodes, more than data.steps (" +
                           std::to_string(spec_.steps) + "); raise it");
    }
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> children;
    std::vector<std::int32_t> labels;
    for (const auto& node : nodes) {
      tokens.push_back(node.word.empty() ? kPaddingToken : vocabulary_.token(lower_case(node.word)));
      children.push_back(node.left);
      children.push_back(node.right);
      labels.push_back(label_of(node));
    }
    if (labels.back() != kUnlabelled) {
      split.add(tokens, children, labels, line);
    }
  }

  const DataSpec& spec_;
  DatasetUse use_;
  std::filesystem::path root_;
  Vocabulary vocabulary_;
  bool polarity_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> open_trees(const DataSpec& spec, const std::string& worker_path, DatasetUse use) {
  TreeReader reader(spec, worker_path, use);
  auto train = reader.read(spec.train, "train", spec.train_examples, "train_examples");
  auto test = reader.read(spec.test, "test", spec.test_examples, "test_examples");
  return std::make_unique<SplitDataset<TreeSplit>>(spec, std::move(train), std::move(test), reader.left_out());
}

}  // namespace ballast
