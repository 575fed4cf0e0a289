// Sums of slots on a thread of their own, while another makes the slots others.
#include <chrono>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "tests/unit/worker/training/summed_slots.h"

namespace ballast {
namespace {

using namespace testing;

// Computes on a thread of its own while this one makes the slots others, and gives receipts, as a loop does.
TEST_CASE("slots become others while they are computed, with receipts that are late and as few arenas as can be") {
  const auto arena = small_arena();
  constexpr Slot kThirtyTwo = 32;
  std::mt19937 random(7);
  std::size_t split = 0;
  for (int repetition = 0; repetition < 300; ++repetition) {
    auto pool = small_pool(arena, kThirtyTwo);
    SummedSlots computing(arena, pool, kThirtyTwo, {{0, kThirtyTwo}});
    computing.keep_receipts();
    auto done = std::async(std::launch::async, [&] { computing.run([] { std::this_thread::yield(); }); });
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (done.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      if (random() % 4 == 0) {
        const auto begin = static_cast<Slot>(random() % kThirtyTwo);
        const auto end = begin + 1 + static_cast<Slot>(random() % (kThirtyTwo - begin));
        computing.become(random() % 3 == 0 ? std::vector<SlotRange>{{0, end}}
                                           : std::vector<SlotRange>{{begin, end}, {0, begin / 2}});
      }
      if (random() % 2 == 0) {
        computing.give_receipt();
      }
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > give_up) {
        pool.close();
        FAIL_CHECK("they wait for each other");
      }
    }
    done.get();
    while (computing.give_receipt()) {
    }
    REQUIRE(computing.is_whole());
    REQUIRE(are_all_free(pool));
    split += computing.nodes().contains(0) && computing.nodes().at(0).size() > 1 ? 1 : 0;
  }
  CHECK(split > 0);
}

TEST_CASE("become() does not wait for an arena, and a computation that does ends when the pool is closed") {
  const auto arena = small_arena();
  auto pool = small_pool(arena, 4);
  std::vector<std::uint32_t> taken(pool.arenas());
  for (auto& each : taken) {
    REQUIRE(pool.take(each));
  }
  for (const bool closes : {false, true}) {
    SlotSums sums(arena, pool, 4, {{0, 4}},
                  [](ChunkId, const PartialSum&, bool) { FAIL_CHECK("nothing is computed"); });
    auto begun = std::async(std::launch::async, [&] { return sums.begin_slot(); });
    CHECK(begun.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    sums.become({});
    CHECK(begun.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
    if (closes) {
      pool.close();
    } else {
      pool.give_back(taken.back());
      taken.pop_back();
    }
    REQUIRE(begun.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    CHECK_FALSE(begun.get());  // of a list that is empty now, whose arena is given back
    if (!closes) {
      taken.emplace_back();
      auto again = std::async(std::launch::async, [&] { return pool.take(taken.back()); });
      REQUIRE(again.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
      CHECK(again.get());
    }
  }
}

}  // namespace
}  // namespace ballast
