#include "common/job/group_list.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "common/job/schema.h"
#include "common/job/value.h"
#include "common/job/words.h"

namespace ballast {

namespace {

constexpr std::size_t kMaxPattern = 128;

void read_number(Target target, double most, const YamlNode& node) {
  Key key;
  key.target = target;
  key.maximum = most;
  read_value(key, node);
}

bool read_switch(const YamlNode& node) {
  bool value = false;
  Key key;
  key.target = &value;
  read_value(key, node);
  return value;
}

ParameterGroup read_group(const YamlNode& node) {
  ParameterGroup group;
  if (node.kind != YamlNode::Kind::map) {
    throw Unfit{kind_name(node) + " where {match: ..., learning_rate: ..., weight_decay: ...} is needed"};
  }
  bool changes = false;
  for (const auto& entry : node.entries) {
    if (entry.key == "match") {
      group.match = scalar(entry.value, "a pattern of names");
      continue;
    }
    changes = true;
    if (entry.key == "learning_rate") {
      read_number(&group.learning_rate, 1000, entry.value);
    } else if (entry.key == "weight_decay") {
      read_number(&group.weight_decay, 1, entry.value);
    } else if (entry.key == "trust_ratio") {
      group.trust_ratio = read_switch(entry.value);
    } else {
      throw Unfit{"unknown key " + shown(entry.key) +
                  " of a group; allowed: match, learning_rate, weight_decay, trust_ratio"};
    }
  }
  auto letters = group.match;
  std::ranges::replace(letters, '*', 'x');
  if (!is_name(letters, kMaxPattern)) {
    throw Unfit{shown(group.match) +
                " is no pattern of parameters' names; allowed: 1 to 128 of A-Z a-z 0-9 . _ - and *, e.g. conv*.weight"};
  }
  if (!changes) {
    throw Unfit{"group '" + group.match + "' changes nothing; add learning_rate, weight_decay or trust_ratio"};
  }
  return group;
}

}  // namespace

std::vector<ParameterGroup> read_groups(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::list || node.items.empty() || node.items.size() > kMaxParameterGroups) {
    throw Unfit{"a list of 1 to " + std::to_string(kMaxParameterGroups) +
                " groups is needed; e.g. [{match: conv*.weight, learning_rate: 0.1}]"};
  }
  std::vector<ParameterGroup> groups;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    try {
      groups.push_back(read_group(node.items[i]));
    } catch (const Unfit& unfit) {
      throw Unfit{"group " + std::to_string(i + 1) + ": " + unfit.text, node.items[i].line};
    }
  }
  return groups;
}

}  // namespace ballast
