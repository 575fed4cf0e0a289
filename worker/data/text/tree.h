// Binary parse trees in the bracket form of the Penn Treebank, a label at every node: (3 (2 It) (4 (3 works) (2 .))).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

struct TreeNode {
  std::int32_t label = 0;
  std::int32_t left = -1;  // its children, which stand before it; -1, -1: a leaf
  std::int32_t right = -1;
  std::string_view word = {};  // of a leaf; within the parsed line
};

// What is wrong with a tree, and where in its line, from 1 on.
struct BadTree : std::runtime_error {
  BadTree(std::size_t at, const std::string& what) : std::runtime_error(what), column(at) {}
  std::size_t column;
};

// The nodes in post-order: the root is the last. Any depth; memory grows with the line. Throws BadTree.
std::vector<TreeNode> parse_tree(std::string_view line);

}  // namespace ballast
