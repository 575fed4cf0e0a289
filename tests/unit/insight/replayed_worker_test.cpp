#include "insight/replayed_worker.h"

#include <doctest/doctest.h>

namespace ballast::insight {
namespace {

const SharingRules kRules = {8, 1, 1'000, true, true};

std::vector<Node> nodes(std::initializer_list<Node> list) { return list; }

TEST_CASE("replayed worker: sums are sent as the tree has them, with the slot that completes each") {
  const WorkerTimes times;
  ReplayedWorker worker(times, kRules);
  worker.order({0, 9, {1, 4}}, std::nullopt);
  CHECK(worker.wants(0));
  worker.begin(0);
  CHECK(worker.next() == std::optional<Slot>(1));
  CHECK(worker.compute(1, 100) == nodes({{1, 2}}));
  CHECK(worker.is_computing());
  worker.end_slot(200);
  CHECK(worker.compute(2, 200).empty());
  worker.end_slot(300);
  CHECK(worker.compute(3, 300) == nodes({{2, 4}}));
  worker.end_slot(400);
  CHECK_FALSE(worker.next());
  const auto progress = worker.progress(450, 7);
  CHECK(progress.computed == std::vector<SlotRange>{{1, 4}});
  CHECK(progress.slot_time == 100);
  CHECK(progress.begun == 351);
  CHECK(progress.without_receipt == 7);
}

TEST_CASE(
    "replayed worker: where others get the rest, what is computed leaves at once, and the slot in hand when it is") {
  const WorkerTimes times;
  ReplayedWorker worker(times, kRules);
  worker.order({0, 9, {0, 4}}, std::nullopt);
  worker.begin(0);
  for (const Slot slot : {0, 1}) {
    worker.compute(slot, 100 * slot);
    worker.end_slot(100 * slot + 100);
  }
  CHECK(worker.compute(2, 200).empty());
  worker.order({0, 9, {0, 4}}, StepWork{0, {{0, 3}}, false});  // the tail is taken
  CHECK(worker.left_over() == nodes({{0, 2}}));
  worker.order({0, 9, {0, 4}}, StepWork{0, {{0, 2}}, false});  // the slot in hand is copied
  CHECK(worker.left_over().empty());
  worker.end_slot(300);
  CHECK(worker.left_over() == nodes({{2, 3}}));
  CHECK(worker.left_over().empty());
}

TEST_CASE("replayed worker: a division holds from its step on") {
  const WorkerTimes times;
  ReplayedWorker worker(times, kRules);
  worker.order({0, 9, {0, 4}}, std::nullopt);
  worker.order({2, 9, {}}, std::nullopt);
  CHECK(worker.wants(1));
  CHECK_FALSE(worker.wants(2));
  worker.order({2, 9, {}}, StepWork{2, {{5, 6}}, false});
  CHECK(worker.wants(2));
  worker.begin(2);
  CHECK(worker.next() == std::optional<Slot>(5));
}

}  // namespace
}  // namespace ballast::insight
