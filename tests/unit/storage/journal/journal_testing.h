// What the tests of the journal share: records whose every field follows from a number, and listeners.
#pragma once

#include <doctest/doctest.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/journal/journal.h"

namespace ballast {

inline const JournalOwner kOwner{"job", "digest", 1};

// Payloads, kept as a server keeps them until they are committed.
class RecordMaker {
 public:
  explicit RecordMaker(std::size_t payload_bytes = 40) : payload_bytes_(payload_bytes) {}

  // Record number `n`: by it alone, the record is known again.
  JournalRecord make(std::uint64_t n, Timeline timeline) {
    auto& bytes = payloads_.emplace_back(payload_of(n));
    JournalRecord record;
    record.timeline = timeline;
    record.chunk = static_cast<ChunkId>(n % 7);
    record.item = n / 7;
    record.version = n;
    record.factors = {0.5F + static_cast<float>(n), 0.25F, 0.75F, n % 5 == 4, {}};
    for (std::uint32_t shard = 0; shard < n % 4; ++shard) {
      record.marks.push_back({shard, 100 + n, 2 * n});
    }
    record.staleness = 3 * n;
    record.session = 1000 + n;
    record.payload = std::as_bytes(std::span(bytes));
    return record;
  }

  [[nodiscard]] std::string payload_of(std::uint64_t n) const {
    return n % 5 == 4 ? std::string() : std::string(payload_bytes_, static_cast<char>('a' + n % 26));
  }

  void check(const JournalRecord& found, std::uint64_t n, Timeline timeline) {
    const auto wanted = make(n, timeline);
    REQUIRE(found.timeline == wanted.timeline);
    REQUIRE(found.chunk == wanted.chunk);
    REQUIRE(found.item == wanted.item);
    REQUIRE(found.version == wanted.version);
    REQUIRE(found.factors == wanted.factors);
    REQUIRE(found.marks == wanted.marks);
    REQUIRE(found.staleness == wanted.staleness);
    REQUIRE(found.session == wanted.session);
    REQUIRE(found.payload.size() == wanted.payload.size());
    REQUIRE(
        (found.payload.empty() || std::memcmp(found.payload.data(), wanted.payload.data(), found.payload.size()) == 0));
    payloads_.pop_back();
  }

 private:
  std::size_t payload_bytes_;
  std::deque<std::string> payloads_;  // whose elements stay where they are
};

// Hears what the journal says, and waits for it.
class Listener {
 public:
  JournalEvents events() {
    return {[this](Timeline timeline, JournalSequence through) {
              const std::scoped_lock lock(mutex_);
              committed_.emplace_back(timeline, through);
              changed_.notify_all();
            },
            [this](const std::string& text) {
              const std::scoped_lock lock(mutex_);
              troubles_.push_back(text);
              changed_.notify_all();
            }};
  }
  void wait_for_committed(JournalSequence through) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !committed_.empty() && committed_.back().second >= through; });
  }
  void wait_for_troubles(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return troubles_.size() >= count; });
  }
  std::vector<std::pair<Timeline, JournalSequence>> committed() {
    const std::scoped_lock lock(mutex_);
    return committed_;
  }
  std::vector<std::string> troubles() {
    const std::scoped_lock lock(mutex_);
    return troubles_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<Timeline, JournalSequence>> committed_;
  std::vector<std::string> troubles_;
};

inline std::unique_ptr<Journal> open_journal(const std::filesystem::path& folder, const JournalOptions& options,
                                             JournalEvents events = {}) {
  auto journal = Journal::open(folder, kOwner, options, std::move(events));
  REQUIRE_MESSAGE(journal.ok(), (journal.ok() ? "" : journal.status().text()));
  return std::move(journal.value());
}

// How many records the journal holds; record number n must have sequence n, and they follow on each other.
inline JournalSequence check_replay(const Journal& journal, RecordMaker& maker) {
  JournalSequence last = 0;
  const auto status = journal.replay([&](JournalSequence sequence, const JournalRecord& record) {
    REQUIRE((last == 0 || sequence == last + 1));
    maker.check(record, sequence, journal.timeline());
    last = sequence;
    return true;
  });
  REQUIRE_MESSAGE(status.ok(), status.text());
  return last;
}

inline void append_range(Journal& journal, RecordMaker& maker, std::uint64_t from, std::uint64_t until) {
  for (auto n = from; n < until; ++n) {
    REQUIRE(journal.append(maker.make(n, journal.timeline())) == n);
  }
}

}  // namespace ballast
