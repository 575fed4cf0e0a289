#include "worker/data/text/tree.h"

#include <array>
#include <charconv>
#include <system_error>

#include "common/job/words.h"

namespace ballast {
namespace {

constexpr std::string_view kTreeBlanks = " \t";
constexpr std::int32_t kMostLabel = 1'000'000;

// Keeps its own stack: a file may be as deep as it likes.
class TreeParser {
 public:
  explicit TreeParser(std::string_view line) : line_(line) {}

  std::vector<TreeNode> parse() {
    skip_blanks();
    if (ended() || line_[at_] != '(') {
      fail("a tree begins with '('");
    }
    do {
      step();
      skip_blanks();
    } while (!open_.empty());
    if (!ended()) {
      fail("text follows the tree's last ')'");
    }
    return std::move(nodes_);
  }

 private:
  struct Open {
    std::int32_t label = 0;
    std::array<std::int32_t, 2> children = {-1, -1};
    std::size_t count = 0;
  };

  [[nodiscard]] bool ended() const { return at_ == line_.size(); }
  [[noreturn]] void fail(const std::string& what) const { throw BadTree(at_ + 1, what); }
  void skip_blanks() { at_ = std::min(line_.find_first_not_of(kTreeBlanks, at_), line_.size()); }

  void step() {
    if (ended()) {
      fail("the line ends within a tree: " + std::to_string(open_.size()) + " ')' are missing");
    }
    if (line_[at_] == '(') {
      open();
    } else if (line_[at_] == ')') {
      close();
    } else {
      leaf();
    }
  }

  void open() {
    if (!open_.empty() && open_.back().count == 2) {
      fail("a node has a third child; trees are binary");
    }
    ++at_;
    skip_blanks();
    Open node;
    const auto* end = line_.data() + line_.size();
    const auto [stop, error] = std::from_chars(line_.data() + at_, end, node.label);
    if (error != std::errc() || node.label < 0 || node.label > kMostLabel || stop == end ||
        (*stop != ' ' && *stop != '\t' && *stop != '(')) {
      fail("a label is needed, a number from 0 on and a blank, in place of " +
           shown(std::string(line_.substr(at_, 12))));
    }
    at_ = static_cast<std::size_t>(stop - line_.data());
    open_.push_back(node);
  }

  void close() {
    const auto& node = open_.back();
    if (node.count != 2) {
      fail("a node has " + std::string(node.count == 0 ? "neither a word nor children" : "one child") +
           "; it needs a word or two children");
    }
    finish({node.label, node.children[0], node.children[1], {}});
  }

  void leaf() {
    if (open_.back().count != 0) {
      fail("a word stands beside a child; a node has a word or two children");
    }
    const auto end = line_.find_first_of(" \t()", at_);
    if (end == std::string_view::npos) {
      at_ = line_.size();
      return;  // the next step tells that the line has ended
    }
    const auto word = line_.substr(at_, end - at_);
    at_ = end;
    skip_blanks();
    if (ended() || line_[at_] != ')') {
      fail("a word is followed by ')'; round brackets in words are -LRB- and -RRB-");
    }
    finish({open_.back().label, -1, -1, word});
  }

  // The innermost open node is this one, and its ')' is next.
  void finish(const TreeNode& node) {
    const auto number = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back(node);
    open_.pop_back();
    if (!open_.empty()) {
      auto& parent = open_.back();
      parent.children[parent.count++] = number;
    }
    ++at_;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::vector<TreeNode> nodes_;
};

}  // namespace

std::vector<TreeNode> parse_tree(std::string_view line) { return TreeParser(line).parse(); }

}  // namespace ballast
