// One lane's part in snapshots: which are ordered, being written, durable, or could not be written.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

// An order is for one step of the timeline that is served. It is due until every chunk is taken, then it is written.
// Pure and copyable. Not thread-safe.
class LaneSnapshots {
 public:
  // `stored`: of which all of the shard's part is durable, ascending. A lane may go on with the timeline.
  LaneSnapshots(Timeline timeline, std::vector<SnapshotId> stored) : timeline_(timeline), stored_(std::move(stored)) {}

  // What is due, or being written, counts no more, and orders are of that timeline from now on.
  void begin(Timeline timeline);
  // Whether the order is a new one. Without chunks it is written at once.
  bool order(Step step, std::size_t chunks);
  [[nodiscard]] bool is_due(Step step) const { return due_.contains(step); }
  // One more chunk is taken for the order, which is due. Whether it was the last, so that the snapshot can be sealed.
  bool take(Step step);

  // False if it is none that is being written.
  bool durable(SnapshotId id);
  bool failed(SnapshotId id, const std::string& text);
  // All of the shard's part of it is durable.
  void store(SnapshotId id);
  // What the lead wants to be kept. False if it was known, or is older than what was.
  bool keep(const std::vector<SnapshotId>& keep);
  [[nodiscard]] const std::vector<SnapshotId>& kept() const { return keep_; }

  // The newest that are durable, ascending; at most `most`.
  [[nodiscard]] std::vector<SnapshotId> stored(std::size_t most) const;
  // Why the last one could not be written; empty if it could.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  void tell(LaneReport& report) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::plain(timeline_, due_, writing_, held_, stored_, failed_, keep_, trouble_));
  }

 private:
  void write(Step step);

  Timeline timeline_;
  std::map<Step, std::size_t> due_;  // how many chunks are still to be taken
  std::vector<SnapshotId> writing_;
  std::vector<SnapshotId> held_;    // of this timeline, and newer than those kept
  std::vector<SnapshotId> stored_;  // durable, of all timelines; ascending
  std::vector<SnapshotId> failed_;
  std::vector<SnapshotId> keep_;
  std::string trouble_;
};

}  // namespace ballast
