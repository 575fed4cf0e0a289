// Which complete snapshot the shards copy to another place, and which of those is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/messages.h"
#include "protocol/state_list.h"

namespace ballast {

struct CopyRules {
  std::uint64_t place = 1;          // tells the place of the copies from another
  Micros patience = 1'800'000'000;  // with a snapshot that a shard does not come to copy
  bool named = false;               // the run has its name from the job file, and no other
  bool operator==(const CopyRules&) const = default;
};

// What a shard says of its part.
struct CopyPart {
  std::uint32_t shard = 0;
  CopyProgress progress;
  std::string trouble;
};

// One snapshot is named at a time, and all shards copy that one, whatever becomes complete meanwhile: so that each set
// of copies becomes whole, however slow the place is.
// Invariants:
//   1. each named snapshot is newer than those before it;
//   2. `complete` is one that was named, and that every shard has said to have copied;
//   3. a named snapshot is given up for none but a newer one, and after `patience` only.
// All three begin anew where the run's name is another's (`taken`). A run that the job file names takes no other name
// then: nothing is named for copying any more.
class CopyCourse {
 public:
  // `run`: of a ledger that names none, or another's. `life`: of the lead. Both drawn at random. Without rules nothing
  // is named.
  CopyCourse(RunId run, std::uint64_t life, const std::optional<CopyRules>& rules)
      : run_(run), life_(life), rules_(rules) {}

  // Changes the record by what the shards say: whether it did. Costs as much as there are shards.
  bool follow(Ledger& ledger, const std::vector<CopyPart>& parts);
  // No set of copies that the job may still go back to is older, as far as this lead knows; `keep` whole ones stay.
  [[nodiscard]] Step oldest(std::size_t keep) const;
  // So much time, in which all shards were there, has passed since this was last said. What was named meanwhile has
  // waited less: patience begins with the next span.
  void wait(Micros span) { waited_ += std::exchange(is_new_, false) ? 0 : span; }

  // Whether the newest complete snapshot is still to be copied, and nothing speaks against it: patience is not over,
  // and no shard has failed again and again.
  [[nodiscard]] bool awaits(const Ledger& durable, SnapshotId newest, const std::vector<CopyPart>& parts) const;
  // The run is over: if the newest snapshot is not copied, that is what is wrong.
  void end(const Ledger& durable, const std::vector<CopyPart>& parts);
  // What is wrong with the copies; empty: nothing.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // What the shards are told: nothing before it is this life's.
  [[nodiscard]] CopyState told(const CopyState& durable) const {
    return rules_ && durable.life != life_ ? CopyState{} : durable;
  }
  void tell(const CopyState& durable, const std::vector<CopyPart>& parts, CopyStatus& status) const;

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::names(run_, life_),
                       listed::plain(rules_, named_, waited_, is_new_, is_taken_, copied_, trouble_));
  }

 private:
  void forget_copies(Ledger& ledger);
  void note_copied(Step step);
  bool settle_name(Ledger& ledger, const std::vector<CopyPart>& parts);
  [[nodiscard]] static std::string lacking(RunId run, SnapshotId snapshot, const std::vector<CopyPart>& parts);

  RunId run_;
  std::uint64_t life_;
  std::optional<CopyRules> rules_;
  SnapshotId named_;   // since
  Micros waited_ = 0;  // so long
  bool is_new_ = false;
  bool is_taken_ = false;    // the name of a named run, by another job
  std::deque<Step> copied_;  // by this lead, the newest; of a named run
  std::string trouble_;
};

}  // namespace ballast
