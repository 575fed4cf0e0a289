// What a journal promises on a disk that is well.
#include "storage/journal/journal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "storage/journal/journal_scan.h"
#include "tests/unit/storage/journal/journal_testing.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr JournalSync kPolicies[] = {JournalSync::always, JournalSync::interval, JournalSync::never};

JournalOptions options_of(JournalSync sync, std::uint64_t segment_bytes = 1U << 20U) {
  JournalOptions options;
  options.sync = sync;
  options.interval = std::chrono::milliseconds(5);
  options.segment_bytes = segment_bytes;
  options.retry = std::chrono::milliseconds(2);
  return options;
}

std::vector<std::string> segments_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  REQUIRE(system_journal_files().list(folder, names) == 0);
  return names;
}

TEST_CASE("what was appended is replayed in order, in later lives as well") {
  for (const auto policy : kPolicies) {
    const TemporaryFolder folder;
    RecordMaker maker;
    for (std::uint64_t life = 0; life < 3; ++life) {
      Listener listener;
      const auto journal = open_journal(folder.path() / "journal", options_of(policy, 2000), listener.events());
      if (life == 0) {
        CHECK(journal->timeline() == 0);
        REQUIRE(journal->begin(4).ok());
      }
      CHECK(journal->recovery().records == 50 * life);
      CHECK(journal->recovery().cut.empty());
      CHECK(journal->timeline() == 4);
      CHECK(journal->synced() == 50 * life);
      REQUIRE(journal->record_life(70 + life).ok());
      for (auto n = 50 * life + 1; n < 50 * life + 51; n += 10) {
        append_range(*journal, maker, n, n + 10);
        listener.wait_for_committed(n + 9);
      }
      CHECK(check_replay(*journal, maker) == 50 * life + 50);
      REQUIRE(journal->sync().ok());
      CHECK(journal->synced() == 50 * life + 50);
      CHECK(journal->lives().size() == life + 1);
      CHECK(journal->lives().back() == ShardLife{70 + life, 50 * life});
      CHECK(listener.troubles().empty());
      const auto counters = journal->counters();
      CHECK(counters.records == 50);
      CHECK(counters.backlog_bytes == 0);
      CHECK(counters.segments >= 3 * (life + 1));
      CHECK(counters.syncs > 0);
    }
  }
}

TEST_CASE("what was appended before the journal is closed is written") {
  const TemporaryFolder folder;
  RecordMaker maker;
  {
    const auto journal = open_journal(folder.path() / "journal", options_of(JournalSync::never));
    REQUIRE(journal->begin(1).ok());
    append_range(*journal, maker, 1, 301);
  }
  const auto journal = open_journal(folder.path() / "journal", options_of(JournalSync::never));
  CHECK(check_replay(*journal, maker) == 300);
}

TEST_CASE("a replay ends when it is told to") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto journal = open_journal(folder.path() / "journal", options_of(JournalSync::never, 500));
  REQUIRE(journal->begin(1).ok());
  append_range(*journal, maker, 1, 31);
  REQUIRE(journal->sync().ok());
  std::uint64_t told = 0;
  CHECK(journal->replay([&](JournalSequence, const JournalRecord&) { return ++told < 12; }).ok());
  CHECK(told == 12);
}

TEST_CASE("payloads as large as a chunk, and more than one call of the system can take") {
  const TemporaryFolder folder;
  {
    RecordMaker maker(kMaxJournalPayload);
    Listener listener;
    const auto journal = open_journal(folder.path() / "large", options_of(JournalSync::always), listener.events());
    REQUIRE(journal->begin(1).ok());
    append_range(*journal, maker, 1, 13);
    listener.wait_for_committed(12);
    CHECK(check_replay(*journal, maker) == 12);
  }
  RecordMaker maker(8);
  const auto journal = open_journal(folder.path() / "many", options_of(JournalSync::never));
  REQUIRE(journal->begin(1).ok());
  append_range(*journal, maker, 1, 5001);
  REQUIRE(journal->sync().ok());
  CHECK(check_replay(*journal, maker) == 5000);
}

TEST_CASE("many threads append: one order, committed in that order, and every record once") {
  for (const auto policy : kPolicies) {
    const TemporaryFolder folder;
    Listener listener;
    const auto journal = open_journal(folder.path() / "journal", options_of(policy, 20000), listener.events());
    REQUIRE(journal->begin(2).ok());
    constexpr std::uint64_t kThreads = 4;
    constexpr std::uint64_t kEach = 300;
    std::vector<std::vector<std::pair<JournalSequence, std::uint64_t>>> given(kThreads);
    std::vector<std::thread> threads;
    std::vector<RecordMaker> makers(kThreads);
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::uint64_t n = thread * kEach; n < (thread + 1) * kEach; ++n) {
          given[thread].emplace_back(journal->append(makers[thread].make(n, 2)), n);
        }
      });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    listener.wait_for_committed(kThreads * kEach);
    std::vector<std::uint64_t> numbers(kThreads * kEach + 1, ~std::uint64_t{0});
    for (const auto& list : given) {
      CHECK(std::is_sorted(list.begin(), list.end()));
      for (const auto& [sequence, n] : list) {
        REQUIRE(sequence <= kThreads * kEach);
        REQUIRE(numbers[sequence] == ~std::uint64_t{0});
        numbers[sequence] = n;
      }
    }
    JournalSequence last = 0;
    RecordMaker maker;
    REQUIRE(journal
                ->replay([&](JournalSequence sequence, const JournalRecord& record) {
                  REQUIRE(sequence == ++last);
                  maker.check(record, numbers[sequence], 2);
                  return true;
                })
                .ok());
    CHECK(last == kThreads * kEach);
    const auto committed = listener.committed();
    CHECK(std::is_sorted(committed.begin(), committed.end()));
    CHECK(std::adjacent_find(committed.begin(), committed.end()) == committed.end());
    CHECK(journal->counters().groups == committed.size());
  }
}

TEST_CASE("with fsync always, what is committed is synced") {
  const TemporaryFolder folder;
  RecordMaker maker;
  std::atomic<bool> behind = false;
  Journal* told = nullptr;
  auto journal =
      open_journal(folder.path() / "journal", options_of(JournalSync::always),
                   {[&](Timeline, JournalSequence through) { behind = behind || told->synced() < through; }, {}});
  told = journal.get();
  REQUIRE(journal->begin(1).ok());
  append_range(*journal, maker, 1, 101);
  REQUIRE(journal->sync().ok());
  CHECK_FALSE(behind);
}

TEST_CASE("a timeline that begins leaves nothing of the one before it") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  {
    const auto journal = open_journal(path, options_of(JournalSync::interval, 500));
    REQUIRE(journal->begin(1).ok());
    REQUIRE(journal->record_life(5).ok());
    append_range(*journal, maker, 1, 31);
    REQUIRE(journal->begin(3).ok());
    CHECK(journal->timeline() == 3);
    CHECK(journal->lives().empty());
    CHECK(journal->appended() == 0);
    CHECK(check_replay(*journal, maker) == 0);
    CHECK(journal->append(maker.make(1, 1)) == 0);  // of the timeline before
    CHECK_FALSE(journal->begin(2).ok());
    CHECK_FALSE(journal->begin(0).ok());
    append_range(*journal, maker, 1, 2);
    REQUIRE(journal->sync().ok());
    CHECK(check_replay(*journal, maker) == 1);
  }
  CHECK(segments_in(path).size() == 1);
  {
    const auto journal = open_journal(path, options_of(JournalSync::interval, 500));
    CHECK(journal->timeline() == 3);
    CHECK(check_replay(*journal, maker) == 1);
    REQUIRE(journal->begin(3).ok());  // the same, anew
    CHECK(check_replay(*journal, maker) == 0);
  }
  CHECK(open_journal(path, options_of(JournalSync::interval))->recovery().records == 0);
}

TEST_CASE("what a crash leaves of an older timeline does not count, and goes") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  const auto aside = folder.path() / "aside";
  {
    const auto journal = open_journal(path, options_of(JournalSync::always, 500));
    REQUIRE(journal->begin(1).ok());
    append_range(*journal, maker, 1, 31);
    REQUIRE(journal->sync().ok());
    std::filesystem::copy(path, aside);
    REQUIRE(journal->begin(2).ok());
    append_range(*journal, maker, 1, 4);
  }
  for (const auto& file : std::filesystem::directory_iterator(aside)) {
    if (segments_in(path).back() > file.path().filename().string()) {
      std::filesystem::copy(file.path(), path / file.path().filename());
    }
  }
  std::ofstream(path / "00000000000000ff.new") << "half a header";
  {
    const auto journal = open_journal(path, options_of(JournalSync::always));
    CHECK(journal->timeline() == 2);
    CHECK(check_replay(*journal, maker) == 3);
  }
  CHECK(segments_in(path).size() == 1);
}

TEST_CASE("lives are told with the sequences at which they began, and none is forgotten for a further one") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  std::uint64_t n = 1;
  for (Incarnation life = 1; life <= 4; ++life) {
    const auto journal = open_journal(path, options_of(JournalSync::never));
    if (life == 1) {
      CHECK_FALSE(journal->record_life(1).ok());  // of no timeline
      REQUIRE(journal->begin(1).ok());
    }
    REQUIRE(journal->record_life(life).ok());
    REQUIRE(journal->record_life(life).ok());
    append_range(*journal, maker, n, n + life);
    n += life;
  }
  auto journal = open_journal(path, options_of(JournalSync::never));
  CHECK(journal->lives() == std::vector<ShardLife>{{1, 0}, {2, 1}, {3, 3}, {4, 6}});
  for (Incarnation life = 5; life <= kMaxJournalLives; ++life) {
    REQUIRE(journal->record_life(life).ok());
  }
  const auto refused = journal->record_life(kMaxJournalLives + 1);
  CHECK(refused.code() == StoreCode::mismatch);
  CHECK(refused.text() ==
        path.string() + ": 256 lives have gone on with timeline 1, and there is no room for another one");
  CHECK(journal->record_life(kMaxJournalLives).ok());  // which is there
  journal.reset();
  journal = open_journal(path, options_of(JournalSync::never));
  REQUIRE(journal->lives().size() == kMaxJournalLives);
  CHECK(journal->lives().front() == ShardLife{1, 0});
  CHECK(journal->lives().back() == ShardLife{kMaxJournalLives, 10});
  CHECK(check_replay(*journal, maker) == 10);
  REQUIRE(journal->begin(2).ok());
  CHECK(journal->record_life(kMaxJournalLives + 1).ok());
  CHECK(journal->lives() == std::vector<ShardLife>{{kMaxJournalLives + 1, 0}});
}

TEST_CASE("segments whose items are all released are removed, and no others") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  JournalSequence first = 0;
  {
    const auto journal = open_journal(path, options_of(JournalSync::always));
    REQUIRE(journal->begin(1).ok());
    REQUIRE(journal->record_life(9).ok());
    for (std::uint64_t cut = 0; cut < 4; ++cut) {  // 70 records, ten items, to a segment
      append_range(*journal, maker, 70 * cut + 1, 70 * cut + 71);
      REQUIRE(journal->sync().ok());
      journal->rotate();
    }
    CHECK(journal->counters().segments == 4);
    journal->release_before(10);  // record 70 is of item 10
    CHECK(journal->counters().segments == 4);
    journal->release_before(21);
    CHECK(journal->counters().segments == 2);
    append_range(*journal, maker, 281, 300);
    REQUIRE(journal->sync().ok());
    CHECK(journal->counters().segments == 3);
  }
  CHECK(segments_in(path).size() == 3);
  {
    const auto journal = open_journal(path, options_of(JournalSync::always));
    REQUIRE(journal
                ->replay([&](JournalSequence sequence, const JournalRecord&) {
                  first = first == 0 ? sequence : first;
                  return true;
                })
                .ok());
    CHECK(first == 141);
    CHECK(journal->recovery().records == 159);
    journal->release_before(1000);  // the last one stays: it knows the timeline and its lives
    CHECK(journal->counters().segments == 1);
  }
  const auto journal = open_journal(path, options_of(JournalSync::always));
  CHECK(journal->timeline() == 1);
  CHECK(journal->lives() == std::vector<ShardLife>{{9, 0}});
  append_range(*journal, maker, 300, 302);
}

// A journal of three segments, in `path`.
void make_segments(const std::filesystem::path& path, RecordMaker& maker) {
  const auto journal = open_journal(path, options_of(JournalSync::always));
  REQUIRE(journal->begin(1).ok());
  for (std::uint64_t cut = 0; cut < 3; ++cut) {
    append_range(*journal, maker, 70 * cut + 1, 70 * cut + 71);
    REQUIRE(journal->sync().ok());
    journal->rotate();
  }
}

TEST_CASE("a journal that is removed is gone with its folder, and there may be none") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  make_segments(path, maker);
  CHECK(Journal::remove(path).ok());
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(Journal::remove(path).ok());
}

TEST_CASE("only segments are removed, and a folder that is a link stays where it points") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto elsewhere = folder.path() / "elsewhere";
  const auto path = folder.path() / "journal";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_directory_symlink(elsewhere, path);
  make_segments(path, maker);
  std::ofstream(elsewhere / "notes") << "somebody's";
  CHECK(Journal::remove(path).ok());
  CHECK(std::filesystem::is_symlink(path));
  CHECK(segments_in(path) == std::vector<std::string>{"notes"});
}

TEST_CASE("a removal that ends half-way leaves a journal") {
  const TemporaryFolder folder;
  RecordMaker maker;
  for (std::size_t removed = 1; removed < 3; ++removed) {
    const auto path = folder.path() / std::to_string(removed);
    make_segments(path, maker);
    const auto names = segments_in(path);
    REQUIRE(names.size() == 3);
    for (std::size_t index = 0; index < removed; ++index) {  // as remove() goes: the oldest first
      std::filesystem::remove(path / names[index]);
    }
    CHECK(open_journal(path, options_of(JournalSync::always))->recovery().records == 70 * (3 - removed));
  }
}

TEST_CASE("a journal that is no longer wanted is not read to its end") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  make_segments(path, maker);
  auto options = options_of(JournalSync::always);
  int asked = 0;
  options.wanted = [&asked] { return ++asked < 2; };
  const auto opened =
      Journal::open(path, kOwner, options, {[](Timeline, JournalSequence) {}, [](const std::string&) {}});
  CHECK(asked == 2);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.status().code() == StoreCode::io);
  CHECK(open_journal(path, options_of(JournalSync::always))->recovery().records == 210);
}

TEST_CASE("another job's, digest's or shard's journal is refused by name, and stays as it is") {
  const TemporaryFolder folder;
  RecordMaker maker;
  const auto path = folder.path() / "journal";
  {
    const auto journal = open_journal(path, options_of(JournalSync::always));
    REQUIRE(journal->begin(1).ok());
    append_range(*journal, maker, 1, 4);
  }
  const auto refuse = [&](const JournalOwner& owner, const std::string& text) {
    const auto refused = Journal::open(path, owner, {}, {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::mismatch);
    CHECK(refused.status().text().find((path / segments_in(path).front()).string()) == 0);
    CAPTURE(refused.status().text());
    CHECK(refused.status().text().find(text) != std::string::npos);
  };
  refuse({"other", "digest", 1}, "this is the journal of job job, not of other");
  refuse({"job", "other", 1}, "with digest digest, not of other");
  refuse({"job", "digest", 2}, "shard 1, not of 2");
  CHECK_FALSE(Journal::open(path, {std::string(5000, 'x'), "digest", 1}, {}, {}).ok());
  CHECK(check_replay(*open_journal(path, options_of(JournalSync::always)), maker) == 3);
}

TEST_CASE("a journal that is open is refused to a second") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "journal";
  const auto journal = open_journal(path, options_of(JournalSync::always));
  const auto refused = Journal::open(path, kOwner, {}, {});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StoreCode::in_use);
  CHECK(refused.status().text().find(path.string()) == 0);
}

TEST_CASE("a journal whose folder cannot be made says so") {
  const TemporaryFolder folder;
  const auto refused = Journal::open(folder.path() / "no" / "journal", kOwner, {}, {});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StoreCode::io);
  CHECK(refused.status().text().find("No such file or directory") != std::string::npos);
}

}  // namespace
}  // namespace ballast
