#include "protocol/state_list.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/lane/lane.h"

using namespace ballast;

namespace {

struct Whole {
  std::uint32_t first = 0;
  std::string second;
  bool third = false;
  std::vector<int> fourth;

  [[nodiscard]] auto state() const { return std::tie(first, second, third, fourth); }
};

struct Forgetful {
  std::uint32_t first = 0;
  std::string second;
  std::vector<int> forgotten;

  [[nodiscard]] auto state() const { return std::tie(first, second); }
};

}  // namespace

TEST_CASE("a list that leaves a member out is noticed") {
  CHECK(lists_all_members<Whole>());
  CHECK_FALSE(lists_all_members<Forgetful>());
}

TEST_CASE("a lane is copied as a whole: what happens to one is not seen in the other") {
  LaneConfig config;
  config.id = {1, 0};
  config.slots = 2;
  config.steps = 2;
  config.chunks = {{3, 100, false}};
  for (const bool by_items : {false, true}) {
    if (by_items) {
      config.items = ItemRules{};
    }
    Lane lane(config);
    const Message confirm = Confirm{1, 1, {0, 0}};
    lane.step(lane::FromLead{&confirm});
    const auto copy = lane;
    lane.step(lane::Begun{1});
    CHECK(lane.serving());
    CHECK_FALSE(copy.serving());
    auto other = copy;
    other.step(lane::Begun{1});
    CHECK(other.serving());
    CHECK(other.open_step() == lane.open_step());
  }
}
