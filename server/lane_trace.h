// What a lane measures of its last steps, for whoever asks (docs/tracing.md).
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "common/net/link_trace.h"
#include "common/trace/trace_ring.h"
#include "protocol/lane/lane_events.h"
#include "storage/journal/journal.h"

namespace ballast {

// One thread, the lane's. What is not settled yet is as much as the core has: chunks, replies, snapshots, appends.
class LaneTrace {
 public:
  // `lanes` of this process share what a process may keep. `updates`: of a step. `chunks`: the
  // lane's.
  LaneTrace(std::uint32_t lanes, std::uint32_t updates, const std::vector<ChunkId>& chunks, DeclaredLine line = {});

  // ---- contributions and updates

  // A turn of the loop begins: what is read in it came after the one before.
  void turn(Micros began) { turn_began_ = began; }
  // The lane has this one, and the core deals with it from now on: nobody has looked whether it is of the lane's
  // chunks.
  void reads(const Push& push, Micros now);
  void summed(ChunkId chunk, Micros now);
  // The core has dealt with it. `sent`: by its worker's clock; `read`: when the lane had it.
  void contributed(SessionId session, const Push& push, Micros sent, Micros read);
  void applied(const lane::Apply& update, Micros begun, Micros now);

  // ---- weights on their way to workers

  void replied(const lane::SendWeights& reply, Micros now);
  // The transport has let go of it then; 0: it was never sent. Nothing if it is unknown.
  void taken(std::uint64_t reply, Micros at);

  // ---- storage

  // `disk`: what the journal's thread has waited for it by now.
  void appended(const lane::Append& append, Micros now, const JournalDisk& disk);
  void took(const lane::TakeSnapshot& taken, Micros now);
  // Of storage events: what was asked for is done, or has failed.
  void done(const lane::Event& event, Micros now, const JournalDisk& disk);

  // ---- the thread itself

  // At every tick; `busy`: microseconds that it has not waited since the last.
  void worked(Step step, Micros busy, Micros now);

  // ---- links

  // Whether links are to be looked at now.
  [[nodiscard]] bool wants_links(Micros now) { return links_.is_due(now); }
  void line(Step step, Micros now) {
    if (const auto record = links_.line(step, now)) {
      ring_.add(*record);
    }
  }
  void link(Step step, SessionId session, const LinkInfo& info, Micros now) {
    if (const auto record = links_.record(step, session, info, now)) {
      ring_.add(*record);
    }
  }

  [[nodiscard]] TracePart part(const TraceAsked& asked) const { return part_of(ring_, asked); }

 private:
  struct Reply {
    SessionId session = 0;
    ChunkId chunk = 0;
    Version version = 0;
    Micros at = 0;
  };
  struct Appended {
    ItemId item = 0;
    ChunkId chunk = 0;
    Micros at = 0;
    JournalDisk disk;  // then
  };

  // A chunk's newest contribution.
  struct Contribution {
    Step step = 0;
    Micros at = 0;  // read, or summed
  };

  void committed(std::uint64_t ticket, Micros now, const JournalDisk& disk);
  [[nodiscard]] Step step_of(Version version) const { return version / updates_; }

  TraceRing ring_;
  const std::uint32_t updates_;
  Micros turn_began_ = 0;
  Micros summed_at_ = 0;
  std::unordered_map<ChunkId, Contribution> newest_;
  std::unordered_map<std::uint64_t, Reply> replies_;
  std::map<std::uint64_t, Appended> appends_;  // by ticket
  std::map<SnapshotId, Micros> snapshots_;
  LinkTrace links_;
  struct {
    Micros since = 0;
    Micros busy = 0;
    Micros processor = 0;  // of the thread, then
  } work_;
};

}  // namespace ballast
