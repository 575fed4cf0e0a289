#include "protocol/lead/suspicion.h"

#include <doctest/doctest.h>

using namespace ballast;

namespace {

// A session's suspicion through steps, each after the one before.
struct SuspectedInSteps : Suspicion {
  Step open = 0;

  void bring() { Suspicion::bring(open + 1); }
  void close_step() { Suspicion::close_step(open++); }
  void miss() {
    find_late();
    close_step();
    open_step(false);
  }
};

}  // namespace

TEST_CASE("a session is suspected while it is lost, silent or late") {
  SuspectedInSteps suspicion;
  CHECK_FALSE(suspicion.is_suspect());
  suspicion.lose();
  suspicion.hear_nothing(true);
  suspicion.find_late();
  suspicion.find();
  CHECK(suspicion.is_suspect());
  suspicion.hear_nothing(false);
  CHECK(suspicion.is_suspect());
  suspicion.excuse();
  CHECK_FALSE(suspicion.is_suspect());
}

TEST_CASE("a session is suspected as long as lanes say that it sends nothing of what they call") {
  SuspectedInSteps suspicion;
  suspicion.send_nothing(true);
  CHECK(suspicion.is_suspect());
  CHECK(suspicion.is_unpaying());
  CHECK(suspicion.why({}, 0) == "it sends nothing of what lanes call: that was taken back twice");
  suspicion.excuse();  // it gets on: that is not what is asked of it
  CHECK(suspicion.is_suspect());
  suspicion.send_nothing(false);
  CHECK_FALSE(suspicion.is_suspect());
}

TEST_CASE("a late session of which nothing is awaited is late no more, unless others have got of its share") {
  SuspectedInSteps suspicion;
  suspicion.find_late();
  suspicion.await_nothing();
  CHECK_FALSE(suspicion.is_late());
  suspicion.find_late();
  suspicion.relieve();
  suspicion.await_nothing();
  CHECK(suspicion.is_late());
  suspicion.excuse();
  suspicion.relieve();  // it is not late
  suspicion.find_late();
  suspicion.await_nothing();
  CHECK_FALSE(suspicion.is_late());
}

TEST_CASE("a session may miss as many steps as it has brought something, three at most; a new one none") {
  SuspectedInSteps suspicion;
  CHECK_FALSE(suspicion.has_credit());
  suspicion.miss();
  CHECK_FALSE(suspicion.has_credit());
  suspicion.bring();
  CHECK(suspicion.has_credit());
  suspicion.close_step();  // in which it brought something
  suspicion.close_step();  // in time
  CHECK(suspicion.has_credit());
  suspicion.miss();
  CHECK_FALSE(suspicion.has_credit());
  for (std::uint32_t step = 0; step < 2 * Suspicion::kMostCredit; ++step) {
    suspicion.bring();
    suspicion.close_step();
  }
  for (std::uint32_t step = 0; step < Suspicion::kMostCredit; ++step) {
    CHECK(suspicion.has_credit());
    suspicion.miss();
  }
  CHECK_FALSE(suspicion.has_credit());
}

TEST_CASE("a session that sends nothing of what is called has no credit, and none by what it brings meanwhile") {
  SuspectedInSteps suspicion;
  suspicion.bring();
  suspicion.send_nothing(false);
  CHECK(suspicion.has_credit());
  suspicion.send_nothing(true);
  CHECK_FALSE(suspicion.has_credit());
  suspicion.bring();
  suspicion.send_nothing(true);
  suspicion.send_nothing(false);
  CHECK_FALSE(suspicion.has_credit());
  CHECK_FALSE(suspicion.is_suspect());
  suspicion.bring();
  CHECK(suspicion.has_credit());
}

TEST_CASE("a session that was late and brought something all the same has missed nothing") {
  SuspectedInSteps suspicion;
  suspicion.bring();
  suspicion.close_step();
  for (std::uint32_t step = 0; step < 2 * Suspicion::kMostCredit; ++step) {
    suspicion.bring();
    suspicion.miss();
    CHECK(suspicion.has_credit());
  }
}

TEST_CASE("what a session brought of a step that opens later is no miss of it; the step after that is one") {
  SuspectedInSteps suspicion;
  suspicion.Suspicion::bring(2);  // the lane that counts is a step ahead
  suspicion.miss();
  suspicion.miss();
  CHECK(suspicion.has_credit());
  suspicion.miss();
  CHECK_FALSE(suspicion.has_credit());
}

TEST_CASE("what a session brought before the job was taken back is nothing of the steps that come again") {
  SuspectedInSteps suspicion;
  suspicion.Suspicion::bring(2);
  suspicion.rewind();
  suspicion.miss();
  CHECK_FALSE(suspicion.has_credit());
}

TEST_CASE("steps in which a session was silent are no misses: it may go on as it did") {
  SuspectedInSteps suspicion;
  suspicion.bring();
  suspicion.close_step();
  suspicion.hear_nothing(true);
  for (std::uint32_t step = 0; step < 2 * Suspicion::kMostCredit; ++step) {
    suspicion.miss();
  }
  suspicion.hear_nothing(false);
  CHECK(suspicion.has_credit());
}

TEST_CASE("who falls silent when it is late has missed the step nevertheless") {
  SuspectedInSteps suspicion;
  suspicion.bring();
  suspicion.close_step();
  for (std::uint32_t step = 0; step < Suspicion::kMostCredit; ++step) {
    suspicion.find_late();
    suspicion.hear_nothing(true);
    suspicion.close_step();
    suspicion.hear_nothing(false);
    suspicion.open_step(true);
  }
  CHECK_FALSE(suspicion.has_credit());
}

TEST_CASE("a session that is late when a step ends is late in the next one, if it has a share of it") {
  SuspectedInSteps suspicion;
  suspicion.find_late();
  suspicion.close_step();
  suspicion.open_step(true);
  CHECK(suspicion.is_late());
  suspicion.close_step();
  suspicion.open_step(false);
  CHECK_FALSE(suspicion.is_late());
}

TEST_CASE("a suspect's reason names what it is late with, and one that is lost has none") {
  SlotProgress progress;
  progress.step = 4;
  progress.in_hand = 7;
  progress.in_hand_for = 900'000;
  progress.slot_time = 100'000;
  SuspectedInSteps suspicion;
  CHECK(suspicion.why(progress, 5).empty());
  suspicion.find_late();
  CHECK(suspicion.why(progress, 5) == "slot 7 of step 4 takes 900 ms, one of its slots 100 ms");
  progress.in_hand = kNoSlot;
  CHECK(suspicion.why(progress, 5) == "it brings nothing of its share of step 5");
  suspicion.hear_nothing(true);
  CHECK(suspicion.why(progress, 5) == "it is silent");
  suspicion.lose();
  CHECK(suspicion.why(progress, 5).empty());
  SuspectedInSteps misses;
  for (std::uint32_t step = 0; step < Suspicion::kMostCredit; ++step) {
    misses.bring();
    misses.close_step();
  }
  CHECK(misses.why(progress, 5).empty());
  for (int i = 0; i < 4; ++i) {
    misses.miss();
  }
  CHECK(misses.why(progress, 5) == "it brought nothing of its share of 4 steps in a row");
  CHECK(Suspicion().why(progress, 5).empty());  // nothing was expected of it
}
