// Lives of a journal with everything at once: failing calls, rotation, release, new timelines, and at random moments
// the death of the process or a power cut. What was promised is found again, in order, each record the right one.
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <random>

#include "storage/journal/journal.h"
#include "tests/unit/storage/journal/journal_memory_files.h"
#include "tests/unit/storage/journal/journal_testing.h"

namespace ballast {
namespace {

constexpr int kLives = 400;

struct Promised {
  Timeline timeline = 0;
  JournalSequence least = 0;  // that must be found
  JournalSequence most = 0;   // that was given at all
  std::vector<ShardLife> lives;
  std::optional<Timeline> begun;  // that failed to begin, and may be there all the same: nothing was promised since
};

// A timeline that failed to begin, and what was committed then.
struct FailedBegin {
  Timeline timeline = 0;
  JournalSequence committed = 0;
};

JournalOptions options_of(MemoryJournalFiles& files, std::mt19937& random) {
  JournalOptions options;
  options.sync = static_cast<JournalSync>(random() % 3);
  options.interval = std::chrono::milliseconds(1);
  options.retry = std::chrono::milliseconds(0);
  options.segment_bytes = 300 + random() % 2000;
  options.files = &files;
  return options;
}

void begin(Journal& journal, Timeline timeline, std::optional<FailedBegin>& failed) {
  failed.reset();
  if (!journal.begin(timeline).ok()) {
    failed = FailedBegin{timeline, journal.committed()};
  }
}

void act(Journal& journal, RecordMaker& maker, std::mt19937& random, std::optional<FailedBegin>& failed) {
  switch (random() % 16) {
    case 0:
      journal.rotate();
      break;
    case 1:
      journal.release_before(journal.committed() / 7 / (1 + random() % 3));
      break;
    case 2:
      if (random() % 8 == 0) {
        begin(journal, journal.timeline() + random() % 2, failed);
      }
      break;
    case 3:
      static_cast<void>(journal.sync());
      break;
    default:
      for (auto count = random() % 6; count > 0; --count) {
        const auto n = journal.appended() + 1;
        REQUIRE(journal.append(maker.make(n, journal.timeline())) == n);
      }
  }
}

// What the failed begin left, if it is that which is found, and nothing else.
bool is_failed_begin(const Journal& journal, const Promised& promised) {
  return promised.begun == journal.timeline() && journal.committed() == 0 && journal.lives().empty();
}

TEST_CASE("what was promised is found again after the death of the process and after power cuts") {
  std::mt19937 random(7);
  auto files = std::make_unique<MemoryJournalFiles>();
  std::optional<Promised> promised;
  int power_cuts = 0;
  int lost_something = 0;
  int begun_all_the_same = 0;
  for (Incarnation life = 1; life <= kLives; ++life) {
    CAPTURE(life);
    RecordMaker maker;
    const auto options = options_of(*files, random);
    auto opened = Journal::open("journal", kOwner, options, {});
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.status().text()));
    auto& journal = *opened.value();
    if (promised && is_failed_begin(journal, *promised)) {
      ++begun_all_the_same;
    } else if (promised) {
      REQUIRE(journal.timeline() == promised->timeline);
      REQUIRE(journal.committed() >= promised->least);
      REQUIRE(journal.committed() <= promised->most);
      REQUIRE(journal.lives() == promised->lives);
      const auto found = check_replay(journal, maker);
      REQUIRE((found == journal.committed() || found == 0));
      lost_something += journal.committed() < promised->most ? 1 : 0;
    } else {
      REQUIRE(journal.begin(1).ok());
    }
    REQUIRE(journal.record_life(life).ok());
    std::atomic<unsigned> calls = 0;
    const unsigned rarity = random() % 3 == 0 ? 10 : 1U << 30U;
    files->set_judge([&calls, rarity](FileCall call, const std::string&) {
      const bool can_fail =
          call != FileCall::read && call != FileCall::open && call != FileCall::cut && call != FileCall::push_out;
      return can_fail && ++calls % rarity == 0 ? (calls % 3 == 0 ? ENOSPC : EIO) : 0;
    });
    std::optional<FailedBegin> failed;
    for (auto acts = random() % 60; acts > 0; --acts) {
      act(journal, maker, random, failed);
    }
    const bool power = random() % 2 == 0;
    power_cuts += power ? 1 : 0;
    promised = Promised{journal.timeline(), power ? journal.synced() : journal.committed(), 0, journal.lives(), {}};
    if (failed && promised->least <= failed->committed) {
      promised->begun = failed->timeline;
    }
    auto image = power ? files->cut_power(random) : files->copy();
    promised->most = journal.appended();
    files->set_judge({});
    opened.value().reset();
    files = std::move(image);
  }
  CHECK(power_cuts > kLives / 3);
  CHECK(lost_something > kLives / 10);
  CHECK(begun_all_the_same < kLives / 20);
}

}  // namespace
}  // namespace ballast
