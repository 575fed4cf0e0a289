#include "worker/training/gradient_norms.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ballast {
namespace {

constexpr std::chrono::hours kLong{24};

Arena arena_of(const std::vector<std::pair<std::string, Group>>& names) {
  std::vector<Parameter> parameters;
  for (const auto& [name, group] : names) {
    Parameter made;
    made.name = name;
    made.shape = {3};
    made.group = group;
    parameters.push_back(std::move(made));
  }
  return lay_out(std::move(parameters));
}

TEST_CASE("gradient norms: a group for each layer, of all of its parameters but state") {
  const auto arena = arena_of({{"conv1.weight", Group::decay},
                               {"conv1.bias", Group::no_decay},
                               {"norm.running_mean", Group::state},
                               {"fc.weight", Group::decay}});
  GradientNorms norms(arena);
  CHECK(norms.groups() == std::vector<std::string>{"conv1", "fc"});
  CHECK_FALSE(norms.norm(0));
  std::vector<float> contribution(arena.elements);
  for (std::size_t parameter = 0; parameter < arena.parameters.size(); ++parameter) {
    contribution[arena.extents[parameter].offset] = static_cast<float>(parameter + 3);  // 3, 4, 5, 6
  }
  const auto before = contribution;
  norms.computed(contribution, 2, kLong);
  CHECK(norms.norm(0) == 10);  // twice the root of 9 + 16
  CHECK(norms.norm(1) == 12);
  CHECK(contribution == before);
}

TEST_CASE("gradient norms: many layers are put together in their order, into groups as alike as can be") {
  std::vector<std::pair<std::string, Group>> names;
  for (int layer = 0; layer < 40; ++layer) {
    names.emplace_back("layer" + std::to_string(layer) + ".weight", Group::decay);
    names.emplace_back("layer" + std::to_string(layer) + ".bias", Group::no_decay);
  }
  const auto arena = arena_of(names);
  GradientNorms norms(arena);
  REQUIRE(norms.groups().size() == GradientNorms::kMostGroups);
  CHECK(norms.groups().front() == "layer0 to layer1");
  CHECK(norms.groups().back() == "layer37 to layer39");
  CHECK(std::set<std::string>(norms.groups().begin(), norms.groups().end()).size() == GradientNorms::kMostGroups);
  // An element of each parameter is 1: the squares of all groups are 80 together.
  std::vector<float> contribution(arena.elements);
  for (const auto& extent : arena.extents) {
    contribution[extent.offset + 1] = 1;
  }
  norms.computed(contribution, 1, kLong);
  double squares = 0;
  for (std::size_t group = 0; group < norms.groups().size(); ++group) {
    const auto norm = norms.norm(group).value();
    CHECK((norm * norm == doctest::Approx(4) || norm * norm == doctest::Approx(6)));
    squares += norm * norm;
  }
  CHECK(squares == doctest::Approx(80));
}

TEST_CASE("gradient norms: a model without parameters has no groups") {
  const auto arena = arena_of({});
  GradientNorms norms(arena);
  CHECK(norms.groups().empty());
  norms.computed(std::vector<float>(arena.elements), 1, kLong);
}

TEST_CASE("gradient norms: what is not finite shows") {
  const auto arena = arena_of({{"a.weight", Group::decay}, {"b.weight", Group::decay}});
  GradientNorms norms(arena);
  std::vector<float> contribution(arena.elements);
  contribution[arena.extents[1].offset] = std::numeric_limits<float>::quiet_NaN();
  norms.computed(contribution, 1, kLong);
  CHECK(norms.norm(0) == 0);
  CHECK_FALSE(std::isfinite(norms.norm(1).value()));
}

TEST_CASE("gradient norms: the next slot that is looked at comes when slots have taken enough for it") {
  const auto arena = arena_of({{"a.weight", Group::decay}});
  GradientNorms norms(arena);
  std::vector<float> contribution(arena.elements);
  norms.computed(contribution, 1, std::chrono::nanoseconds{0});  // the first, in any case
  CHECK(norms.norm(0) == 0);
  contribution[arena.extents[0].offset] = 5;
  norms.computed(contribution, 1, std::chrono::nanoseconds{0});  // nothing has made up for that one
  CHECK(norms.norm(0) == 0);
  norms.computed(contribution, 1, kLong);
  CHECK(norms.norm(0) == 5);
}

}  // namespace
}  // namespace ballast
