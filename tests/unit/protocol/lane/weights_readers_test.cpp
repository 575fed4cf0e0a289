// What is kept for readers of weights, and who has to go so that updates go on.
#include "protocol/lane/weights_readers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "protocol/lane/slowest_link.h"

using namespace ballast;

namespace {

constexpr Micros kPatienceWithReaders = 1'000;
constexpr Micros kPauseOfReaders = 100'000;
constexpr ChunkId kRead = 3;
constexpr ChunkId kReadOther = 4;

WeightsReaders::Reader reader(SessionId session) { return {session, session * 10, session * 100}; }

// With a clock that is looked at often.
class Readers {
 public:
  explicit Readers(std::uint64_t set_aside) : weights({set_aside, kPatienceWithReaders, kPauseOfReaders}) {
    weights.tick(now_);
  }
  std::uint64_t sends(SessionId session, ChunkId chunk, std::uint64_t bytes = 100) {
    return weights.sends(reader(session), chunk, bytes, false, false);
  }
  // The chunk's newest weights are read by the session, and come to be kept.
  std::uint64_t keep(SessionId session, ChunkId chunk, std::uint64_t bytes = 100) {
    const auto number = sends(session, chunk, bytes);
    CHECK(weights.updates(chunk));
    CHECK(weights.updates(chunk));
    return number;
  }
  void pass(Micros time) {
    for (; time > 0; time -= std::min<Micros>(time, 50)) {
      now_ += std::min<Micros>(time, 50);
      weights.tick(now_);
    }
  }
  WeightsReaders weights;

 private:
  Micros now_ = 1'000'000;
};

// Many replies of one buffer: one is read now and then, and the buffer stays in use.
class SlowReading {
 public:
  SlowReading(Readers& readers, SessionId session, ChunkId chunk, std::uint64_t bytes = 100) : readers_(readers) {
    for (auto& reply : replies_) {
      reply = readers.sends(session, chunk, bytes);
    }
  }
  void reads_one() { readers_.weights.released(replies_.at(next_++)); }

 private:
  Readers& readers_;
  std::array<std::uint64_t, 400> replies_{};
  std::size_t next_ = 0;
};

void read_slowly(Readers& readers, const std::vector<SlowReading*>& all, Micros time) {
  for (Micros passed = 0; passed < time; passed += 500) {
    CHECK(readers.weights.cut().empty());
    CHECK_FALSE(readers.weights.overdue());
    for (auto* reading : all) {
      reading->reads_one();
    }
    readers.pass(500);
  }
}

using Cut = std::vector<WeightsReaders::Reader>;

}  // namespace

TEST_CASE("the two newest versions cost nothing, whoever reads them") {
  Readers readers(0);
  readers.sends(1, kRead);
  CHECK(readers.weights.updates(kRead));
  readers.sends(2, kRead);
  CHECK(readers.weights.kept_bytes() == 0);
}

TEST_CASE("a version that is read beyond the two is kept once, however many read it, until the last lets go") {
  Readers readers(100);
  const auto first = readers.sends(1, kRead);
  const auto second = readers.keep(2, kRead);
  CHECK(readers.weights.kept_bytes() == 100);
  CHECK(readers.weights.updates(kRead));  // what is newer nobody reads
  CHECK(readers.weights.released(first)->reader == reader(1));
  CHECK(readers.weights.kept_bytes() == 100);
  CHECK(readers.weights.released(second)->bytes == 100);
  CHECK(readers.weights.kept_bytes() == 0);
  CHECK_FALSE(readers.weights.released(second));
}

TEST_CASE("the older of the two versions is kept from the next update on") {
  Readers readers(100);
  auto& weights = readers.weights;
  CHECK(weights.updates(kRead));
  const auto older = weights.sends(reader(1), kRead, 100, true, false);
  CHECK(weights.kept_bytes() == 0);
  CHECK(weights.updates(kRead));
  CHECK(weights.kept_bytes() == 100);
  weights.released(older);
  CHECK(weights.kept_bytes() == 0);
}

TEST_CASE("an average that is read is kept from the next update on") {
  Readers readers(100);
  auto& weights = readers.weights;
  const auto average = weights.sends(reader(1), kRead, 100, false, true);
  CHECK(weights.updates(kRead));
  CHECK(weights.kept_bytes() == 100);
  weights.released(average);
  CHECK(weights.kept_bytes() == 0);
}

TEST_CASE("an update waits where there is no room for what it would keep, and goes on when something is read") {
  Readers readers(100);
  auto& weights = readers.weights;
  const auto kept = readers.keep(1, kReadOther);
  const auto own = readers.sends(2, kRead, 50);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.waiting().contains(kRead));
  CHECK(weights.counters().waits == 1);
  CHECK_FALSE(weights.may_go_on());

  SUBCASE("what is kept") { weights.released(kept); }
  SUBCASE("or what it would keep") { weights.released(own); }
  CHECK(weights.may_go_on());
  weights.tried();
  CHECK_FALSE(weights.may_go_on());
  CHECK(weights.updates(kRead));
  CHECK(weights.waiting().empty());
}

TEST_CASE("what was read before an update waits lets it not go on") {
  Readers readers(100);
  auto& weights = readers.weights;
  weights.released(readers.keep(1, kReadOther));
  readers.keep(1, kReadOther);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  CHECK_FALSE(weights.may_go_on());
}

TEST_CASE("what is read of a buffer that others read, or that nothing waits for, lets nothing go on") {
  Readers readers(100);
  auto& weights = readers.weights;
  const auto first = readers.sends(1, kReadOther);
  readers.keep(2, kReadOther);
  const auto newest = readers.sends(1, kReadOther);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  weights.released(first);
  weights.released(newest);
  CHECK_FALSE(weights.may_go_on());
}

TEST_CASE("who has read nothing for as long as it takes on the slowest link is cut as soon as an update waits") {
  constexpr std::uint64_t kBytes = 640;
  constexpr Micros kMayTake = kPatienceWithReaders + time_on_slowest_link(kBytes);
  Readers readers(2 * kBytes);
  auto& weights = readers.weights;
  readers.keep(1, kReadOther, kBytes);
  readers.pass(10);
  readers.keep(2, kReadOther, kBytes);
  readers.pass(kMayTake - 11);
  readers.sends(3, kRead, kBytes);
  CHECK(weights.updates(kRead));
  CHECK(weights.cut().empty());
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.cut().empty());
  readers.pass(1);
  CHECK(weights.cut() == Cut{reader(1)});  // which is enough
  CHECK(weights.cut().empty());
  CHECK(weights.counters().cut == 1);
}

TEST_CASE("who reads slowly is cut when an update has waited for long, first who is furthest behind the slowest link") {
  constexpr std::uint64_t kSmall = 64;
  constexpr std::uint64_t kLarge = 6'400;
  Readers readers(kSmall + kLarge);
  auto& weights = readers.weights;
  SlowReading large(readers, 2, kReadOther, kLarge);
  SlowReading small(readers, 1, kReadOther + 1, kSmall);
  for (const auto chunk : {kReadOther, kReadOther + 1, kReadOther, kReadOther + 1}) {
    CHECK(weights.updates(chunk));
  }
  SlowReading in_the_way(readers, 3, kRead, kSmall);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  read_slowly(readers, {&small, &large, &in_the_way}, kPatienceWithReaders + time_on_slowest_link(kLarge));
  CHECK(weights.cut() == Cut{reader(1)});
  CHECK(weights.overdue() == kRead);
}

TEST_CASE("as many are cut as read a buffer, and as are in the way of all updates that wait") {
  Readers readers(200);
  auto& weights = readers.weights;
  readers.sends(1, kReadOther);
  readers.keep(2, kReadOther);
  readers.pass(10);
  readers.keep(3, kReadOther);
  readers.pass(2 * kPatienceWithReaders);
  const auto wait = [&](ChunkId chunk) {
    readers.sends(4, chunk);
    CHECK(weights.updates(chunk));
    CHECK_FALSE(weights.updates(chunk));
  };
  wait(kRead);
  SUBCASE("one") { CHECK(weights.cut() == Cut{reader(1), reader(2)}); }
  SUBCASE("two") {
    wait(kRead + 2);
    CHECK(weights.cut() == Cut{reader(1), reader(2), reader(3)});
  }
}

TEST_CASE("of those who read slowly first those are cut without whom something is kept no longer") {
  Readers readers(200);
  auto& weights = readers.weights;
  SlowReading one(readers, 1, kReadOther);
  SlowReading of_the_same(readers, 2, kReadOther);
  CHECK(weights.updates(kReadOther));
  CHECK(weights.updates(kReadOther));
  SlowReading alone(readers, 3, kReadOther);
  CHECK(weights.updates(kReadOther));
  CHECK(weights.updates(kReadOther));
  SlowReading in_the_way(readers, 4, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  read_slowly(readers, {&one, &of_the_same, &alone, &in_the_way}, kPatienceWithReaders + time_on_slowest_link(100));
  CHECK(weights.cut() == Cut{reader(3)});
}

TEST_CASE("who was cut, and does not end, is cut again after the patience") {
  Readers readers(100);
  auto& weights = readers.weights;
  readers.keep(1, kRead);
  auto other = readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  readers.pass(2 * kPatienceWithReaders);
  CHECK(weights.cut() == Cut{reader(1)});
  weights.sends(reader(2), kRead, 100, true, false);
  weights.released(other);
  readers.pass(kPatienceWithReaders - 1);
  CHECK(weights.cut().empty());
  readers.pass(1);
  CHECK(weights.cut() == Cut{reader(1)});
}

TEST_CASE("who answers for one that was cut has less time during a pause, twice as long each time") {
  Readers readers(100);
  auto& weights = readers.weights;
  // Over a new connection of the session something is kept, and an update waits for it.
  ConnectionId connection = 10;
  std::uint64_t kept = 0;
  const auto stand_still = [&] {
    kept = weights.sends({1, ++connection, 100}, kRead, 100, false, false);
    CHECK(weights.updates(kRead));
    CHECK(weights.updates(kRead));
    weights.sends({2, 20, 200}, kReadOther, 100, false, false);
    CHECK(weights.updates(kReadOther));
    CHECK_FALSE(weights.updates(kReadOther));
  };
  const auto is_cut_after = [&](Micros time) {
    readers.pass(time - 1);
    CHECK(weights.cut().empty());
    readers.pass(1);
    const bool is_cut = weights.cut() == Cut{{1, connection, 100}};
    weights.released(kept);
    CHECK(weights.updates(kReadOther));
    weights.released(kept + 1);
    return is_cut;
  };
  const auto whole = kPatienceWithReaders + time_on_slowest_link(100);
  const auto in_pause =
      kPatienceWithReaders / WeightsReaders::kPartInPause + time_on_slowest_link(100) / WeightsReaders::kFasterInPause;
  stand_still();
  CHECK(is_cut_after(whole));
  readers.pass(kPauseOfReaders - in_pause - 1);
  stand_still();
  CHECK(is_cut_after(in_pause));  // which is not a new pause
  readers.pass(1);
  stand_still();
  CHECK(is_cut_after(whole));
  readers.pass(2 * kPauseOfReaders - in_pause - 1);
  stand_still();
  CHECK(is_cut_after(in_pause));
}

TEST_CASE("a server that stands still has not waited for readers meanwhile") {
  Readers readers(100);
  auto& weights = readers.weights;
  readers.keep(1, kRead);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  weights.tick(5'000'000);
  CHECK(weights.cut().empty());
}

TEST_CASE("all that is read of a timeline that is over is kept, and lets those of the next one wait") {
  Readers readers(100);
  auto& weights = readers.weights;
  const auto newest = readers.sends(1, kRead);
  weights.begin();
  CHECK(weights.kept_bytes() == 100);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  weights.released(newest);
  CHECK(weights.updates(kRead));
}

TEST_CASE("what was kept before a timeline is not kept twice") {
  Readers readers(300);
  auto& weights = readers.weights;
  readers.keep(1, kRead);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  weights.begin();
  CHECK(weights.kept_bytes() == 200);
}

TEST_CASE("who reads what a waiting update would keep is in its way like who reads what is kept") {
  Readers readers(100);
  auto& weights = readers.weights;
  readers.sends(1, kRead);
  CHECK(weights.updates(kRead));
  readers.pass(2 * kPatienceWithReaders);
  readers.keep(2, kReadOther);
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.cut() == Cut{reader(1)});
}

TEST_CASE("nothing that would be kept finds room before an update that has waited for too long") {
  Readers readers(100);
  auto& weights = readers.weights;
  auto kept = readers.keep(1, kReadOther);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  readers.pass(2 * kPatienceWithReaders);
  CHECK_FALSE(weights.cut().empty());
  CHECK(weights.overdue() == kRead);
  readers.sends(3, kReadOther + 1);
  CHECK(weights.updates(kReadOther + 1));
  weights.released(kept);
  CHECK_FALSE(weights.updates(kReadOther + 1));
  CHECK(weights.waiting_by_age() == std::vector<ChunkId>{kRead, kReadOther + 1});
  CHECK(weights.updates(kRead));
  CHECK(weights.may_go_on());
  CHECK_FALSE(weights.overdue());
}

TEST_CASE("only what is read first counts as read: the transport does not take all that it lets go of") {
  Readers readers(100);
  auto& weights = readers.weights;
  readers.keep(1, kReadOther);
  readers.sends(2, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  for (Micros passed = 0; passed < 2 * kPatienceWithReaders; passed += 500) {
    weights.released(readers.sends(1, kReadOther));
    readers.pass(500);
  }
  CHECK(weights.cut() == Cut{reader(1)});
}

TEST_CASE(
    "what is kept of a timeline that is over, beyond what is set aside, is of no use to anybody and cut at once") {
  Readers readers(100);
  auto& weights = readers.weights;
  readers.sends(1, kRead);
  readers.sends(2, kReadOther);
  weights.begin();
  CHECK(weights.kept_bytes() == 200);
  CHECK(weights.cut() == Cut{reader(1)});
  // Who reads of the timeline that is now has his time.
  readers.pass(kPatienceWithReaders);
  weights.released(1);
  readers.sends(1, kRead);
  CHECK(weights.updates(kRead));
  CHECK_FALSE(weights.updates(kRead));
  CHECK(weights.cut() == Cut{reader(2)});
  CHECK(weights.cut().empty());
}
