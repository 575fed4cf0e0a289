// What a worker's outbox and a lane's queues cost by entry, however many there are.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bench/benchmark.h"
#include "bench/clock.h"
#include "bench/spread.h"
#include "protocol/lane/lane_sessions.h"
#include "protocol/lane/pending_items.h"
#include "protocol/worker/outbox.h"

namespace ballast::bench {

namespace {

constexpr std::uint32_t kFewest = 1'000;
constexpr std::uint32_t kMost = 100'000;
constexpr std::uint64_t kChunkBytes = 4096;
constexpr std::uint64_t kCredit = 16U << 20U;
constexpr LearntDeadline::Bounds kRetry{50'000, 1'000'000, 10'000'000};

// A worker's step: each chunk's contribution is added, sent, and released by its receipt or by the chunk's next
// version, and after each of these the worker looks for what it can send.
std::uint64_t step_of_a_worker(std::uint32_t chunks) {
  Outbox outbox(kRetry);
  outbox.set_credit(kCredit);
  std::uint64_t sent = 0;
  for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
    outbox.add({.timeline = 1, .step = 1, .chunk = chunk, .node = {0, 1}, .payload = chunk + 1, .bytes = kChunkBytes});
    sent += outbox.take_sendable(chunk).size();
  }
  for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
    if (chunk % 2 == 0) {
      outbox.receipt(1, 1, chunk, {0, 1}, chunks + chunk);
    } else {
      outbox.before(chunk, 2);
    }
    sent += outbox.take_sendable(chunks + chunk).size();
    sent += outbox.has(1, 0) ? 0 : 1;
  }
  return sent;
}

// Items that wait for the journal: each is looked for before it is taken in, and taken out again.
std::uint64_t items_of_a_lane(std::uint32_t items) {
  PendingItems pending;
  std::uint64_t found = 0;
  for (std::uint32_t i = 0; i < items; ++i) {
    found += pending.find(i % 64, i / 64) != nullptr ? 1 : 0;
    ItemUpdate update;
    update.chunk = i % 64;
    update.item = i / 64;
    pending.add(std::move(update));
  }
  pending.committed(items, items);
  while (pending.has_committed()) {
    found += pending.take().ticket;
  }
  return found;
}

std::vector<LaneChunk> chunks_of_a_lane(std::uint32_t count) {
  std::vector<LaneChunk> chunks;
  for (ChunkId chunk = 0; chunk < count; ++chunk) {
    chunks.push_back({chunk, kChunkBytes});
  }
  return chunks;
}

// A session pulls all chunks at once, through a window that holds a few of them.
std::uint64_t replies_of_a_lane(std::uint32_t chunks) {
  LaneSessions sessions({.window_bytes = 4 * kChunkBytes}, chunks_of_a_lane(chunks));
  sessions.hello(1, 0);
  std::uint64_t sent = 0;
  for (ChunkId chunk = 0; chunk < chunks; ++chunk) {
    sent += sessions.want(1, {chunk, kChunkBytes, 1, 1}, {1}) ? 1 : 0;
  }
  while (sent < chunks) {
    sessions.released(1, kChunkBytes);
    while (const auto next = sessions.next_deferred(1)) {
      sent += sessions.reply(1, {next->chunk, kChunkBytes, 1, 1}, {1}) ? 1 : 0;
    }
  }
  return sent;
}

// Sessions that wait for versions of all chunks, and of which each gives way to a newcomer that waits for as many.
std::uint64_t waits_of_sessions_that_come_and_go(std::uint32_t entries) {
  constexpr std::uint32_t kSessions = 250;
  constexpr Version kNever = 1U << 30U;
  LaneSessions sessions({.sessions = kSessions}, chunks_of_a_lane(entries / kSessions / 2));
  std::uint64_t kept = 0;
  for (SessionId session = 1; session <= 2 * kSessions; ++session) {
    kept += sessions.hello(session, static_cast<Micros>(session)).is_known ? 1 : 0;
    for (ChunkId chunk = 0; chunk < entries / kSessions / 2; ++chunk) {
      kept += sessions.want(session, {chunk, kChunkBytes, 1, 1}, {kNever}) ? 1 : 0;
      kept += sessions.answer_waiting({chunk, kChunkBytes, 1, 1}).size();
    }
  }
  return kept;
}

// The baseline: an ordered map that is filled and emptied.
std::uint64_t plain_map(std::uint32_t entries) {
  std::map<std::tuple<Step, ChunkId, Node>, Contribution> map;
  for (ChunkId chunk = 0; chunk < entries; ++chunk) {
    map.emplace(std::tuple{Step{1}, chunk, Node{0, 1}}, Contribution{});
  }
  std::uint64_t sum = 0;
  while (!map.empty()) {
    sum += map.begin()->second.payload + 1;
    map.erase(map.begin());
  }
  return sum;
}

struct OutboxWork {
  std::string name;
  std::uint64_t (*run)(std::uint32_t entries);
};

double nanoseconds_an_entry(const OutboxWork& work, std::uint32_t entries, std::uint64_t& kept) {
  const auto begin = Clock::now();
  std::uint32_t done = 0;
  for (; done < kMost; done += entries) {
    kept += work.run(entries);
  }
  return seconds_since(begin) * 1e9 / done;
}

}  // namespace

Result outbox(const Options& options) {
  const std::vector<OutboxWork> works = {{"outbox of a worker", step_of_a_worker},
                                         {"items of a lane that wait for the journal", items_of_a_lane},
                                         {"replies of a lane that wait for a window", replies_of_a_lane},
                                         {"waits of sessions that come and go", waits_of_sessions_that_come_and_go}};
  const OutboxWork baseline{"map", plain_map};
  Result result;
  result.how =
      "entries put into each queue, sent and released, as the protocol does it; in turns with an ordered map of as "
      "many that is filled and emptied. ns_entry: medians; to_map: the ratio to the map's.";
  std::uint64_t kept = 0;  // so that nothing is left out
  for (const auto& work : works) {
    for (std::uint32_t entries = kFewest; entries <= kMost; entries *= 10) {
      std::vector<double> own;
      std::vector<double> ratios;
      for (unsigned repetition = 0; repetition < options.repetitions; ++repetition) {
        const double plain = nanoseconds_an_entry(baseline, entries, kept);
        own.push_back(nanoseconds_an_entry(work, entries, kept));
        ratios.push_back(own.back() / plain);
      }
      result.rows.push_back({{"queue", work.name},
                             {"entries", std::uint64_t{entries}},
                             {"ns_entry", spread_of(own).median},
                             {"to_map", spread_of(ratios).median}});
    }
  }
  result.how += kept == 0 ? "!" : "";
  return result;
}

}  // namespace ballast::bench
