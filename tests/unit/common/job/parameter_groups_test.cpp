#include "common/job/parameter_groups.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/job/descents.h"
#include "common/job/load.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

// Straight from the definition.
bool is_of(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) {
    return name.empty();
  }
  if (pattern[0] == '*') {
    return is_of(pattern.substr(1), name) || (!name.empty() && is_of(pattern, name.substr(1)));
  }
  return !name.empty() && pattern[0] == name[0] && is_of(pattern.substr(1), name.substr(1));
}

// All texts of the letters of up to so many characters.
std::vector<std::string> texts(const std::string& letters, std::size_t longest) {
  std::vector<std::string> all = {""};
  for (std::size_t begin = 0, length = 0; length < longest; ++length) {
    const auto end = all.size();
    for (; begin < end; ++begin) {
      for (const char letter : letters) {
        all.push_back(all[begin] + letter);
      }
    }
  }
  return all;
}

TEST_CASE("a star stands for any characters, or none") {
  for (const auto& pattern : texts("ab*", 5)) {
    for (const auto& name : texts("ab", 5)) {
      CAPTURE(pattern);
      CAPTURE(name);
      REQUIRE(matches(pattern, name) == is_of(pattern, name));
    }
  }
  CHECK(matches("layer*.conv*.weight", "layer3.0.conv2.weight"));
  CHECK_FALSE(matches("layer*.conv*.weight", "layer3.0.bn2.weight"));
}

TEST_CASE("the first group that matches counts, and state is nobody's") {
  const std::vector<Parameter> parameters = {{"conv.weight", {2}, Group::decay, {}},
                                             {"conv.bias", {2}, Group::no_decay, {}},
                                             {"fc.weight", {2}, Group::decay, {}},
                                             {"mean", {2}, Group::state, {}}};
  TrainingSpec training;
  training.optimizer.weight_decay = 0.5;
  training.parameter_groups = {{"conv.*", 0.25, std::nullopt}, {"*", 3, 0.125}};
  const auto found = descents(training, parameters);
  CHECK(found.of(0).rate == 0.25F);
  CHECK(found.of(0).optimizer.weight_decay == 0.5);
  CHECK(found.of(1).rate == 0.25F);
  CHECK(found.of(1).optimizer.weight_decay == 0);
  CHECK(found.of(2).rate == 3);
  CHECK(found.of(2).optimizer.weight_decay == 0.125);
  CHECK(useless_groups(training.parameter_groups, parameters).empty());
  CHECK(useless_groups({{"mean", 2, std::nullopt}}, parameters) ==
        std::vector<std::string>{
            "'mean' matches no parameter that is trained; they are conv.weight, conv.bias, fc.weight"});
}

TEST_CASE("parameters with the same settings have them once, and local steps have their own") {
  const std::vector<Parameter> parameters = {
      {"a", {2}, Group::decay, {}}, {"b", {2}, Group::no_decay, {}}, {"c", {2}, Group::decay, {}}};
  TrainingSpec training;
  training.optimizer.weight_decay = 0.5;
  CHECK(descents(training, parameters).kinds.size() == 2);
  training.mode = Mode::local;
  training.parameter_groups = {{"c", 0.5, std::nullopt}};
  CHECK(descents(training, parameters).of(2).rate == 1);
  CHECK(local_descents(training, parameters).of(2).rate == 0.5F);
  CHECK(local_descents(training, parameters).of(0).rate == 1);
}

TEST_CASE("of a large model a message names the first parameters") {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 25; ++i) {
    parameters.push_back({"p" + std::to_string(i), {1}, Group::decay, {}});
  }
  const auto told = useless_groups({{"x", 2, std::nullopt}}, parameters);
  REQUIRE(told.size() == 1);
  CHECK(told[0].ends_with("p18, p19 and 5 more"));
}

TEST_CASE("groups of parameters reach the spec, and what is wrong with them is told") {
  const auto with_groups = [](const std::string& groups) {
    return replaced(kJob, "training:", "training:\n  parameter_groups: " + groups);
  };
  const auto spec = parse_job(
      with_groups("[{match: 'fc1.*', learning_rate: 0.5}, {match: '*.bias', weight_decay: 0.125}]"), "job.yaml");
  REQUIRE(spec.training.parameter_groups.size() == 2);
  CHECK(spec.training.parameter_groups[0].match == "fc1.*");
  CHECK(spec.training.parameter_groups[0].learning_rate == 0.5);
  CHECK_FALSE(spec.training.parameter_groups[0].weight_decay);
  CHECK(spec.training.parameter_groups[1].learning_rate == 1);
  CHECK(spec.training.parameter_groups[1].weight_decay == 0.125);
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"[]", "a list of 1 to 64 groups is needed; e.g. [{match: conv*.weight, learning_rate: 0.1}]"},
      {"[5]", "group 1: '5' where {match: ..., learning_rate: ..., weight_decay: ...} is needed"},
      {"[{match: 'fc1*'}]", "group 1: group 'fc1*' changes nothing; add learning_rate, weight_decay or trust_ratio"},
      {"[{learning_rate: 2}]",
       "group 1: '' is no pattern of parameters' names; allowed: 1 to 128 of A-Z a-z 0-9 . _ - and *, e.g. "
       "conv*.weight"},
      {"[{match: 'fc?', learning_rate: 2}]",
       "group 1: 'fc?' is no pattern of parameters' names; allowed: 1 to 128 of A-Z a-z 0-9 . _ - and *, e.g. "
       "conv*.weight"},
      {"[{match: fc1*, rate: 2}]",
       "group 1: unknown key 'rate' of a group; allowed: match, learning_rate, weight_decay, trust_ratio"},
      {"[{match: fc1*, trust_ratio: no}]", "group 1: 'no' is neither true nor false; allowed: true, false"},
      {"[{match: fc1*, learning_rate: -1}]", "group 1: '-1' is out of range; allowed: 0 to 1000"},
      {"[{match: fc1*, weight_decay: 2}]", "group 1: '2' is out of range; allowed: 0 to 1"},
      {"[{match: conv*, learning_rate: 2}]",
       "'conv*' matches no parameter that is trained; they are fc1.weight, fc1.bias, fc2.weight, fc2.bias, fc3.weight, "
       "fc3.bias"},
      {"[{match: fc*, learning_rate: 2}, {match: fc1.bias, learning_rate: 3}]",
       "'fc1.bias' decides nothing: earlier groups match all its parameters, and the first one counts; put it before "
       "them, or remove it"},
  };
  for (const auto& [groups, error] : wrong) {
    CAPTURE(groups);
    const auto told = job_error(with_groups(groups));
    CHECK(told.ends_with(": training.parameter_groups: " + error));
  }
}

}  // namespace
}  // namespace ballast::testing
