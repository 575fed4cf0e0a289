#include "protocol/lead/shard_roster.h"

#include <set>
#include <utility>

#include "protocol/lead/base_choice.h"

namespace ballast {

bool owns_chunks(const LaneReport& report, Step steps) { return report.open_step < steps || report.rounds.reached > 0; }

namespace {

// Of a shard's timeline to a ledger that is an earlier state of itself. The next timeline is counted from the furthest
// one, so whoever could name any would bring the job to the last one that there is.
constexpr Timeline kMostTimelinesAhead = Timeline{1} << 16U;

std::string hex(std::uint64_t value) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4U) {
    *digit = "0123456789abcdef"[value & 15U];
  }
  return digits;
}

// Why a shard that is to bring its part from copies does not.
std::string why_no_copy(const ShardHello& hello, const Ledger& ledger) {
  if (hello.run == 0 || hello.run != ledger.copies.run) {
    return {};
  }
  if (!hello.copies_trouble.empty()) {
    return ". The copies of this run cannot be looked at: " + hello.copies_trouble;
  }
  return ledger.copies.complete == SnapshotId{} ? ". There is no complete copy of this run"
                                                : ". No copy has been found yet from which it could go on";
}

}  // namespace

std::string database_text(const DatabaseLife& life) {
  return "database " + hex(life.database) + ", life " + std::to_string(life.count);
}

bool holds(const ShardHello& hello, SnapshotId snapshot) {
  return std::ranges::find(hello.held, snapshot) != hello.held.end();
}

bool lists(const Ledger& ledger, LaneId lane, Incarnation incarnation) {
  return lane.shard < ledger.incarnations.size() && ledger.incarnations[lane.shard] == incarnation;
}

// ---- who is taken

// Which of a shard's lives is the present one, and whether it could serve: the reason against it, or nothing.
std::string ShardRoster::why_not_taken(const ShardHello& hello, const Ledger& ledger, Micros now) const {
  const auto shard = hello.lane.shard;
  const auto name = "shard " + std::to_string(shard) + ": the server at " + hello.address + " (" +
                    database_text(hello.database) + ")";
  if (ledger.timeline == 0 && hello.timeline > 0) {
    return "shard 0's ledger, for its database has none, but shard " + std::to_string(shard) + "'s holds timeline " +
           std::to_string(hello.timeline) +
           " of this job. Start shard 0 with the database that has it, or restore all shards from a copy "
           "(ballast restore)";
  }
  if (hello.timeline > ledger.timeline + kMostTimelinesAhead) {
    return name + " is not taken, for it says that it knows timeline " + std::to_string(hello.timeline) +
           ", and shard 0's ledger is at " + std::to_string(ledger.timeline) +
           ". A ledger that was brought back from a copy may lie " + std::to_string(kMostTimelinesAhead) +
           " behind at most. Start shard 0 with the database that has the newest ledger; or start this shard with the "
           "database that belongs to it; or restore all shards from a copy (ballast restore)";
  }
  const auto base = ledger.complete.empty() ? SnapshotId{} : ledger.complete.back();
  const auto lacks_base =
      !lists(ledger, hello.lane, hello.incarnation) && !holds(hello, base) && !has_another_base(hello, ledger)
          ? name + " is not taken, for its database lacks the snapshot of step " + std::to_string(base.step) +
                " (timeline " + std::to_string(base.timeline) +
                "), from which the job goes on. Start the shard with the database that has it "
                "(the right volume), or restore all shards from a copy (ballast restore)" +
                why_no_copy(hello, ledger)
          : std::string();
  // Of the life that the ledger lists nothing may have been heard by this lead.
  if (!lacks_base.empty() && !has_come(shard)) {
    return lacks_base;
  }
  if (!present_.may_be_present(shard, hello.incarnation, hello.database, now, silence_of(shard))) {
    return name + " is not taken, for " + who_is(shard) +
           " is heard of. End the one that is there by mistake (a wrong "
           "--shard?)" +
           (present_.find(shard)->database.database == hello.database.database
                ? "; both have the same database, or one has a copy or an earlier state of it"
                : "");
  }
  return lacks_base;
}

void ShardRoster::admit(const ShardHello& hello, Micros now) {
  const auto shard = hello.lane.shard;
  std::erase_if(lanes_, [&](const auto& lane) {
    const bool is_over = lane.first.shard == shard && lane.second.incarnation != hello.incarnation;
    if (is_over) {
      last_heard_[lane.first] = lane.second.heard_at;
      serving_.erase(lane.first);
      departing_.erase(lane.first);
      news_.erase(lane.first);
    }
    return is_over;
  });
  last_heard_.erase(hello.lane);
  present_.take(shard, hello.incarnation, hello.database, now);
  turned_away_.erase(shard);
  auto& lane = lanes_.try_emplace(hello.lane, silence_).first->second;
  lane.incarnation = hello.incarnation;
  lane.database = hello.database;
  lane.address = hello.address;
  lane.initial_weights = hello.initial_weights;
  lane.timeline = hello.timeline;
  lane.open_step = hello.open_step;
  lane.lives = hello.lives;
  lane.replayed = hello.replayed;
  lane.held = hello.held;
  lane.run = hello.run;
  lane.copied = hello.copied;
  lane.lost = hello.lost;
  lane.heard_at = now;
}

void ShardRoster::turn_away(const ShardHello& hello, std::string why, Micros now) {
  const auto* present = present_.find(hello.lane.shard);
  if (present != nullptr && follows(present->database, hello.database)) {
    return;  // said before the present life began, as a rule, by one that is over
  }
  auto& other = turned_away_[hello.lane.shard];
  if (other.incarnation != hello.incarnation) {
    other = {hello.incarnation, now, 0, {}};
  }
  other.heard_at = now;
  other.why = std::move(why);
}

void ShardRoster::forget_silent_turned_away(Micros now) {
  std::erase_if(turned_away_, [&](const auto& other) { return now > other.second.heard_at + silence_.initial; });
}

// ---- time

LeadLane* ShardRoster::heard(LaneId id, Incarnation incarnation, Micros now) {
  const auto known = lanes_.find(id);
  if (known == lanes_.end() || known->second.incarnation != incarnation) {
    return nullptr;
  }
  auto& lane = known->second;
  lane.silence.observe(now - lane.heard_at);
  lane.heard_at = now;
  present_.heard(id.shard, now);
  return &lane;
}

void ShardRoster::take_report(LaneId id, const LaneReport& report, bool serves) {
  auto& known = lanes_.at(id).report;
  known = report;
  known.serving = serves;
  serves ? void(serving_.insert(id)) : void(serving_.erase(id));
  report.departing ? void(departing_.insert(id)) : void(departing_.erase(id));
  news_.insert(id);
}

void ShardRoster::stop_serving() {
  serving_.clear();
  for (auto& [id, lane] : lanes_) {
    lane.report.serving = false;
  }
}

void ShardRoster::forgive(Micros slept) {
  for (auto& [id, lane] : lanes_) {
    lane.heard_at += slept;
  }
  for (auto& [id, heard_at] : last_heard_) {
    heard_at += slept;
  }
  present_.forgive(slept);
}

// ---- who is there

bool ShardRoster::has_come(std::uint32_t shard) const {
  return std::ranges::any_of(lanes_, [&](const auto& known) { return known.first.shard == shard; });
}

std::string ShardRoster::who_is(std::uint32_t shard) const {
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& known) {
    return known.first.shard == shard && !known.second.address.empty();
  });
  return (lane == lanes_.end() ? std::string("the one") : "the one at " + lane->second.address) + " (" +
         database_text(present_.find(shard)->database) + ")";
}

Micros ShardRoster::silence_of(std::uint32_t shard) const {
  Micros silence = 0;
  for (const auto& [id, lane] : lanes_) {
    silence = id.shard == shard ? std::max(silence, lane.silence.deadline()) : silence;
  }
  return silence == 0 ? silence_.initial : silence;
}

bool ShardRoster::others_have_departed(Micros now) const {
  return std::ranges::all_of(departing_, [&](LaneId id) {
    const auto& lane = lanes_.at(id);
    return id.shard == 0 || lane.left || lane.silence.is_past(now - lane.heard_at);
  });
}

std::string ShardRoster::who_departs() const {
  std::set<std::uint32_t> shards;
  for (const auto id : departing_) {
    shards.insert(id.shard);
  }
  if (shards.empty()) {
    return {};
  }
  const auto more = shards.size() - 1;
  return "shard " + std::to_string(*shards.begin()) +
         (more == 0 ? std::string(", which was told to stop and is expected back")
                    : " and " + std::to_string(more) + " more, which were told to stop and are expected back");
}

Step ShardRoster::furthest(Step steps, Step without_chunks) const {
  Step furthest = 0;
  for (const auto& [id, lane] : lanes_) {
    const auto& report = lane.report;
    const auto reached = std::max(report.open_step, report.rounds.reached);
    furthest = std::max(furthest, owns_chunks(report, steps) ? reached : without_chunks);
  }
  return furthest;
}

std::string ShardRoster::who_has_not_come() const {
  std::set<std::uint32_t> missing;
  for (std::uint32_t shard = 0; shard < shards_; ++shard) {
    for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
      if (!lanes_.contains({shard, lane})) {
        missing.insert(shard);
      }
    }
  }
  if (missing.empty()) {
    return {};
  }
  return "shard " + std::to_string(*missing.begin()) +
         (missing.size() == 1 ? std::string() : " and " + std::to_string(missing.size() - 1) + " more") + " to come";
}

ShardRoster::Silent ShardRoster::longest_silent(Micros now, Micros since, Step open) const {
  Silent longest;
  for (std::uint32_t shard = 0; shard < shards_; ++shard) {
    for (std::uint32_t lane = 0; lane < lanes_per_shard_; ++lane) {
      const auto known = lanes_.find({shard, lane});
      const bool has_come = known != lanes_.end();
      const auto before = last_heard_.find({shard, lane});
      const auto missing_since = before == last_heard_.end() ? since : std::max(since, before->second);
      const Micros silent = now - (has_come ? known->second.heard_at : std::min(missing_since, now));
      if (silent <= longest.span || !(has_come ? known->second.silence.is_past(silent) : silent > silence_.floor)) {
        continue;
      }
      const auto other = turned_away_.find(shard);
      const auto* told = departing_.contains({shard, lane}) ? ", which was told to stop and is expected back" : "";
      longest = {silent, other != turned_away_.end()
                             ? other->second.why
                             : "shard " + std::to_string(shard) + " (lane " + std::to_string(lane) + ")" + told +
                                   ", not heard of for " + std::to_string(silent / 1000) + " ms, at step " +
                                   std::to_string(open)};
    }
  }
  return longest;
}

}  // namespace ballast
