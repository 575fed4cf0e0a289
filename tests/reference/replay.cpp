#include "tests/reference/replay.h"
#include "common/arena/placement.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "storage/journal/journal_files.h"
#include "storage/journal/journal_reader.h"
#include "storage/journal/journal_scan.h"
#include "tests/reference/content.h"
#include "tests/reference/update.h"

namespace ballast::reference {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw std::runtime_error(text); }

void read_segment(const JournalSegment& segment, std::uint32_t shard, const Replay::Visitor& visitor) {
  std::unique_ptr<JournalFile> file;
  if (const auto error = system_journal_files().open(segment.path, false, file); error != 0) {
    refuse(file_status(segment.path, "open the journal", error).text());
  }
  JournalReader reader(*file, segment.begin);
  while (reader.offset() < segment.end) {
    const auto place = segment.path.string() + ": offset " + std::to_string(reader.offset()) + ": ";
    const auto read = reader.next();
    if (!read.ok()) {
      refuse(place + read.status().text());
    }
    if (!read.value()) {
      refuse(place + "the file ends here");
    }
    visitor(shard, read.value()->sequence, read.value()->record);
  }
}

// All chunks, item by item.
class Applied {
 public:
  explicit Applied(const Job& job)
      : job_(job),
        update_(job),
        weights_(initial_weights(job)),
        gradient_(job.arena.elements),
        items_(job.arena.chunks.size()) {}

  void apply(const JournalRecord& record) {
    check(record);
    const auto& chunk = job_.arena.chunks[record.chunk];
    std::memcpy(gradient_.data() + chunk.offset, record.payload.data(), chunk.bytes());
    const auto damped = job_.spec.training.staleness.damping == StalenessSpec::Damping::inverse;
    const auto staleness = static_cast<float>(std::max<std::uint64_t>(record.staleness, 1));
    update_.apply_to_chunk(chunk, record.version / job_.spec.training.slots, record.version,
                           {damped ? staleness : 1.0F, staleness, has_examples(record.item)}, gradient_, weights_);
  }

  Replay::Result result() {
    Replay::Result result{weights_digest(job_, weights_), state_digest(job_, update_.state()), 0, {}};
    for (const auto& chunk : job_.arena.chunks) {
      result.updates[chunk.id] = items_[chunk.id].size();
      result.records += items_[chunk.id].size();
    }
    return result;
  }

 private:
  // Only the last step of an epoch may run out of examples: its slots take them in turn, as many as in any step.
  [[nodiscard]] bool has_examples(std::uint64_t item) const {
    const auto& training = job_.spec.training;
    const auto step_of_epoch = item / training.slots % job_.steps.steps_per_epoch;
    const std::uint64_t before =
        step_of_epoch * training.batch + item % training.slots * (training.batch / training.slots);
    return before < job_.sizes.train;
  }

  void check(const JournalRecord& record) {
    const auto place = "chunk " + std::to_string(record.chunk) + ", item " + std::to_string(record.item) + ": ";
    auto& items = items_[record.chunk];
    if (record.version != items.size()) {
      refuse(place + "version " + std::to_string(record.version) + " after " + std::to_string(items.size()) +
             " records");
    }
    if (!items.insert(record.item).second) {
      refuse(place + "recorded twice");
    }
    if (record.factors.skip || record.payload.size() != job_.arena.chunks[record.chunk].bytes()) {
      refuse(place + std::to_string(record.payload.size()) + " bytes are not the chunk's");
    }
  }

  const Job& job_;
  Update update_;
  std::vector<float> weights_;
  std::vector<float> gradient_;
  std::vector<std::set<std::uint64_t>> items_;  // by chunk
};

}  // namespace

void Replay::visit(const Visitor& visitor) const {
  const Placement placement(job_.arena, shards_, 1);
  for (const auto& [shard, folder] : journals_) {
    const auto scan = scan_journal(system_journal_files(), folder, {job_.spec.job, job_.spec_digest, shard});
    if (!scan.ok()) {
      refuse(scan.status().text());
    }
    for (const auto& segment : scan.value().segments) {
      read_segment(segment, shard, [&](std::uint32_t of, JournalSequence sequence, const JournalRecord& record) {
        if (record.chunk >= placement.size() || placement[record.chunk].shard != of) {
          refuse("chunk " + std::to_string(record.chunk) + " in the journal of shard " + std::to_string(of));
        }
        visitor(of, sequence, record);
      });
    }
  }
}

Replay::Result Replay::run() const {
  Applied applied(job_);
  visit([&](std::uint32_t, JournalSequence, const JournalRecord& record) { applied.apply(record); });
  return applied.result();
}

}  // namespace ballast::reference
