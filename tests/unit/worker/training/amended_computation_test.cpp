// Slots of a step that become others while a thread computes them.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/job/load.h"
#include "protocol/slot_set.h"
#include "protocol/tree.h"
#include "tests/unit/worker/compute/wrapped_backend.h"
#include "tests/unit/worker/training/posted_events.h"
#include "worker/training/compute_thread.h"

namespace ballast {
namespace {

using namespace testing;

constexpr Slot kSixteen = 16;
constexpr Step kAmendedStep = 1;

Job job_of_sixteen_slots() {
  return make_job(
      parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\n"
                "data: {name: glyphs, train_examples: 200, test_examples: 30, validation_examples: 20}\n"
                "training: {batch: 64, slots: 16, epochs: 1, optimizer: {name: sgd, learning_rate: 0.1}}\n",
                "the test's job"));
}

using NodeSums = std::map<std::pair<Node, ChunkId>, std::vector<float>>;

// A compute thread, and what it has posted of a step. Receipts come when they are asked for, or at once.
class AmendedComputation {
 public:
  using Begun = std::function<void(Slot)>;

  explicit AmendedComputation(const Job& job, Begun begun = {})
      : job_(job),
        begun_call_(std::move(begun)),
        thread_(job, "", on_cpu(1), [this](worker::Event event) { note(std::move(event)); }) {
    posted_.up_to<worker::Prepared>();
  }

  ComputeThread& thread() { return thread_; }
  PostedEvents& posted() { return posted_; }
  void keep_receipts() { keeps_receipts_ = true; }
  void give_receipts() {
    std::vector<std::uint32_t> arenas;
    {
      const std::scoped_lock lock(mutex_);
      arenas.swap(waiting_);
    }
    for (const auto arena : arenas) {
      thread_.gradients().give_back_chunk(arena);
    }
  }
  void compute(std::vector<SlotRange> ranges) { thread_.compute({kAmendedStep, std::move(ranges)}); }
  void become(std::vector<SlotRange> ranges) { thread_.become({kAmendedStep, std::move(ranges)}); }
  void wait() { posted_.up_to<worker::Computed>(); }

  // Once it has ended.
  [[nodiscard]] const NodeSums& sums() const { return sums_; }
  [[nodiscard]] const SlotSet& begun() const { return begun_; }
  [[nodiscard]] std::vector<Node> nodes(ChunkId chunk) const {
    std::vector<Node> nodes;
    for (const auto& [which, values] : sums_) {
      if (which.second == chunk) {
        nodes.push_back(which.first);
      }
    }
    return nodes;
  }

 private:
  void note(worker::Event event) {
    if (const auto* slot = std::get_if<worker::SlotBegun>(&event)) {
      CHECK(slot->step == kAmendedStep);
      CHECK_FALSE(begun_.contains(slot->slot));
      begun_.insert({slot->slot, slot->slot + 1});
      if (begun_call_) {
        begun_call_(slot->slot);
      }
    }
    if (const auto* ready = std::get_if<worker::GradientReady>(&event)) {
      const std::scoped_lock lock(mutex_);
      const auto& chunk = job_.arena.chunks[ready->chunk];
      const auto arena = thread_.arena_of(ready->payload);
      const auto values = thread_.gradients().values(arena).subspan(chunk.offset, chunk.elements);
      CHECK(sums_.emplace(std::pair(ready->node, ready->chunk), std::vector(values.begin(), values.end())).second);
      if (keeps_receipts_) {
        waiting_.push_back(arena);
      } else {
        thread_.gradients().give_back_chunk(arena);
      }
    }
    posted_.post(std::move(event));
  }

  const Job& job_;
  Begun begun_call_;
  std::mutex mutex_;
  NodeSums sums_;
  SlotSet begun_{kSixteen};
  bool keeps_receipts_ = false;
  std::vector<std::uint32_t> waiting_;
  PostedEvents posted_;
  ComputeThread thread_;
};

// Each slot by itself.
NodeSums gradients_of_slots(const Job& job) {
  std::vector<SlotRange> slots;
  for (Slot slot = 0; slot < kSixteen; ++slot) {
    slots.push_back({slot, slot + 1});
  }
  AmendedComputation alone(job);
  alone.compute(slots);
  alone.wait();
  return alone.sums();
}

std::vector<float> sum_of_slots(const NodeSums& slots, Node node, ChunkId chunk) {
  if (node.size() == 1) {
    return slots.at({node, chunk});
  }
  const auto middle = tree::split(node);
  auto sum = sum_of_slots(slots, {node.begin, middle}, chunk);
  const auto right = sum_of_slots(slots, {middle, node.end}, chunk);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += right[i];
  }
  return sum;
}

// Each slot that was begun is in one sum of each chunk, and the sums are the tree's.
void check_whole(const Job& job, const AmendedComputation& computation, const NodeSums& slots) {
  for (const auto& chunk : job.arena.chunks) {
    SlotSet covered(kSixteen);
    for (const auto node : computation.nodes(chunk.id)) {
      CHECK(tree::is_node(node, kSixteen));
      CHECK_FALSE(covered.contains_some_of(node));
      covered.insert(node);
      CHECK(computation.sums().at({node, chunk.id}) == sum_of_slots(slots, node, chunk.id));
    }
    CHECK(covered == computation.begun());
  }
}

TEST_CASE("slots that are taken back are not begun, and the one in hand is a sum of its own") {
  const auto job = job_of_sixteen_slots();
  const auto slots = gradients_of_slots(job);
  AmendedComputation* amended = nullptr;
  AmendedComputation computation(job, [&](Slot slot) {
    if (slot == 5) {
      amended->become({{0, 5}, {12, 14}});
    }
  });
  amended = &computation;
  computation.compute({{0, 16}});
  computation.wait();
  SlotSet expected(kSixteen);
  expected.insert({0, 6});
  expected.insert({12, 14});
  CHECK(computation.begun() == expected);
  for (const auto& chunk : job.arena.chunks) {
    CHECK(computation.nodes(chunk.id) == std::vector<Node>{{0, 4}, {4, 5}, {5, 6}, {12, 14}});
  }
  check_whole(job, computation, slots);
}

TEST_CASE("slots of another step, and of one that is not in hand, become nothing") {
  const auto job = job_of_sixteen_slots();
  AmendedComputation* amended = nullptr;
  AmendedComputation computation(job, [&](Slot slot) {
    if (slot == 1) {
      amended->thread().become({kAmendedStep + 1, {}});
    }
  });
  amended = &computation;
  computation.become({{8, 9}});
  computation.compute({{0, 4}});
  computation.wait();
  computation.become({{8, 9}});
  CHECK(computation.nodes(0) == std::vector<Node>{{0, 4}});
  computation.compute({{4, 6}});
  computation.wait();
  CHECK(computation.nodes(0) == std::vector<Node>{{0, 4}, {4, 6}});
}

TEST_CASE("whatever a loop makes of the slots while they are computed, with late receipts, the sums are the tree's") {
  const auto job = job_of_sixteen_slots();
  const auto slots = gradients_of_slots(job);
  std::mt19937 random(5);
  std::size_t most = 0;
  for (int repetition = 0; repetition < 40; ++repetition) {
    AmendedComputation computation(job);
    computation.keep_receipts();
    computation.compute({{0, kSixteen}});
    std::thread loop([&] {
      for (int turn = 0; turn < 12; ++turn) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
        const auto begin = static_cast<Slot>(random() % kSixteen);
        const auto end = begin + 1 + static_cast<Slot>(random() % (kSixteen - begin));
        computation.become(random() % 2 == 0 ? std::vector<SlotRange>{{0, end}}
                                             : std::vector<SlotRange>{{begin, end}, {0, begin}});
        computation.give_receipts();
      }
      computation.become({{0, 2}, {13, 16}});
    });
    loop.join();
    computation.give_receipts();
    computation.wait();
    check_whole(job, computation, slots);
    most = std::max(most, computation.nodes(0).size());
  }
  CHECK(most > 1);
}

TEST_CASE("a computation that waits for receipts ends when it is closed, and tells of no end") {
  const auto job = job_of_sixteen_slots();
  std::vector<SlotRange> ranges;
  for (Slot slot = 0; slot < kSixteen; slot += 2) {
    ranges.push_back({slot, slot + 1});
  }
  const auto arenas = gradient_arenas(kSixteen);
  REQUIRE(arenas < ranges.size());
  AmendedComputation computation(job);
  computation.keep_receipts();
  computation.compute(ranges);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::vector<worker::Event> events;
  const auto ready = [&] {
    return std::ranges::count_if(
        events, [](const auto& event) { return std::holds_alternative<worker::GradientReady>(event); });
  };
  while (ready() < static_cast<std::ptrdiff_t>(arenas * job.arena.chunks.size()) &&
         std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::ranges::copy(computation.posted().take(), std::back_inserter(events));
  }
  CHECK(ready() == static_cast<std::ptrdiff_t>(arenas * job.arena.chunks.size()));
  const auto wanted = [&] {
    std::ranges::copy(computation.posted().take(), std::back_inserter(events));
    return std::ranges::count_if(events,
                                 [](const auto& event) { return std::holds_alternative<worker::BufferWanted>(event); });
  };
  while (wanted() == 0 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(wanted() == 1);
  computation.become({{0, 1}, {15, 16}});  // does not wait for it
  const auto closed_at = std::chrono::steady_clock::now();
  computation.thread().close();
  CHECK(std::chrono::steady_clock::now() - closed_at < std::chrono::seconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const auto& event : computation.posted().take()) {
    CHECK_FALSE(std::holds_alternative<worker::Computed>(event));
  }
}

TEST_CASE("a computation that finds no free arena says so, and goes on with the first that is given back") {
  const auto job = job_of_sixteen_slots();
  AmendedComputation computation(job);
  computation.keep_receipts();
  std::vector<SlotRange> ranges;
  for (Slot slot = 0; slot < kSixteen; slot += 2) {
    ranges.push_back({slot, slot + 1});
  }
  computation.compute(ranges);
  computation.posted().up_to<worker::BufferWanted>();
  CHECK(computation.begun().count() == gradient_arenas(kSixteen));
  computation.give_receipts();
  computation.wait();
  CHECK(computation.begun().count() == ranges.size());
}

}  // namespace
}  // namespace ballast
