#include "common/job/parameter_groups.h"

#include <algorithm>
#include <cstddef>

#include "common/job/words.h"

namespace ballast {

namespace {

constexpr std::size_t kNamed = 20;  // parameters, in a sentence

std::string names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const auto& parameter : parameters) {
    if (is_descended(parameter.group)) {
      names.push_back(parameter.name);
    }
  }
  const auto more = names.size() - std::min(names.size(), kNamed);
  names.resize(names.size() - more);
  return comma_list(names) + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

}  // namespace

// The last * that was met takes one character more whenever what follows it does not fit.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;  // up to which the star has taken the name
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

const ParameterGroup* group_of(const std::vector<ParameterGroup>& groups, const Parameter& parameter) {
  const auto found =
      std::ranges::find_if(groups, [&](const ParameterGroup& group) { return matches(group.match, parameter.name); });
  return found == groups.end() ? nullptr : &*found;
}

std::vector<std::string> useless_groups(const std::vector<ParameterGroup>& groups,
                                        const std::vector<Parameter>& parameters) {
  std::vector<bool> matched(groups.size());
  std::vector<bool> used(groups.size());
  for (const auto& parameter : parameters) {
    bool is_taken = !is_descended(parameter.group);
    for (std::size_t i = 0; i < groups.size() && is_descended(parameter.group); ++i) {
      if (matches(groups[i].match, parameter.name)) {
        matched[i] = true;
        used[i] = used[i] || !is_taken;
        is_taken = true;
      }
    }
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!matched[i]) {
      texts.push_back("'" + groups[i].match + "' matches no parameter that is trained; they are " +
                      names_of(parameters));
    } else if (!used[i]) {
      texts.push_back("'" + groups[i].match +
                      "' decides nothing: earlier groups match all its parameters, and the first one counts; put it "
                      "before them, or remove it");
    }
  }
  return texts;
}

}  // namespace ballast
