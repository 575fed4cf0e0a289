// The lead's side towards processes that say they are a shard: which of them it takes.
#include <algorithm>
#include <utility>

#include "common/protocol/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

std::string hex(std::uint64_t value) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4U) {
    *digit = "0123456789abcdef"[value & 15U];
  }
  return digits;
}

std::string text(const DatabaseLife& life) {
  return "database " + hex(life.database) + ", life " + std::to_string(life.count);
}

bool holds(const ShardHello& hello, SnapshotId snapshot) {
  return std::find(hello.held.begin(), hello.held.end(), snapshot) != hello.held.end();
}

}  // namespace

bool Lead::check_shard_hello(const FromLane& event, const ShardHello& hello) {
  const auto refuse = [&](RefusalCode code, std::string text) {
    emit(SendToLane{event.lane, event.incarnation, Refused{code, std::move(text)}});
    return false;
  };
  if (hello.lane != event.lane || hello.incarnation != event.incarnation) {
    return refuse(RefusalCode::wrong_job, "the hello names shard " + std::to_string(hello.lane.shard) + ", lane " +
                                              std::to_string(hello.lane.lane) +
                                              ", but came from the connection of shard " +
                                              std::to_string(event.lane.shard) + ", lane " +
                                              std::to_string(event.lane.lane) + ", or of another of its lives");
  }
  if (hello.spec_digest != config_.spec_digest || hello.layout_digest != config_.layout_digest) {
    emit(SendToLane{
        event.lane, event.incarnation,
        Refused{RefusalCode::wrong_job,
                "shard " + std::to_string(hello.lane.shard) + " was started with another job file than the lead's",
                config_.job}});
    return false;
  }
  if (hello.shards != config_.shards || hello.lanes != config_.lanes || hello.lane.shard >= config_.shards ||
      hello.lane.lane >= config_.lanes) {
    return refuse(RefusalCode::wrong_job, "shard " + std::to_string(hello.lane.shard) + " was started for " +
                                              std::to_string(hello.shards) + " shards of " +
                                              std::to_string(hello.lanes) + " lanes, the lead for " +
                                              std::to_string(config_.shards) + " of " + std::to_string(config_.lanes));
  }
  if (const auto why =
          why_refused(initial_weights_of_others(hello.lane.shard), hello.lane.shard, hello.initial_weights);
      !why.empty()) {
    return refuse(RefusalCode::wrong_bits, why);
  }
  return true;
}

void Lead::on_shard_hello(const FromLane& event, const ShardHello& hello) {
  if (!check_shard_hello(event, hello)) {
    return;
  }
  if (is_over()) {
    turned_away_.erase(event.lane.shard);  // it is not waited for any more
    return emit(SendToLane{event.lane, event.incarnation, ending_for(hello)});
  }
  if (auto why = why_not_taken(hello); !why.empty()) {
    return turn_away(event, hello, std::move(why));
  }
  admit(event, hello);
  if (book_.current().finished) {
    return;  // the end is being made durable, and what it rests on is: the shard is told of it then
  }
  if (lists(book_.current(), event.lane, event.incarnation)) {
    confirm_if_durable();
  } else if (can_resume(hello)) {
    resume_shard(hello);
  } else {
    // A life that the timeline does not list: whatever it held is not what the others' work rests on.
    if (std::exchange(phase_, Phase::assembling) != Phase::assembling) {
      assembling_since_ = now_;  // not again with every hello: patience with who is missing must end
    }
    if (lanes_.size() == std::size_t{config_.shards} * config_.lanes) {
      begin_timeline();
    }
  }
  begin_again_if_broken();
  if (is_confirmed() && lists(book_.durable(), event.lane, event.incarnation)) {
    send_confirm(event.lane, lanes_.at(event.lane));
  } else {
    send_sign_of_life(event.lane, event.incarnation);
  }
}

// Who waits with us for another shard must not take our silence for death. Before the first timeline nobody does.
void Lead::send_sign_of_life(LaneId id, Incarnation incarnation) {
  if (book_.durable().timeline > 0) {
    emit(SendToLane{id, incarnation, Refused{RefusalCode::not_serving, "the lead waits for other shards"}});
  }
}

void Lead::admit(const FromLane& event, const ShardHello& hello) {
  std::erase_if(lanes_, [&](const auto& lane) {
    return lane.first.shard == event.lane.shard && lane.second.incarnation != hello.incarnation;
  });
  present_.take(event.lane.shard, hello.incarnation, hello.database, now_);
  turned_away_.erase(event.lane.shard);
  auto& lane = lanes_.try_emplace(event.lane, LaneState(config_.shard_silence)).first->second;
  lane.incarnation = hello.incarnation;
  lane.database = hello.database;
  lane.address = hello.address;
  lane.initial_weights = hello.initial_weights;
  lane.timeline = hello.timeline;
  lane.reached = hello.reached;
  lane.lives = hello.lives;
  lane.heard_at = now_;
}

// ---- who is not taken

// Which of a shard's lives is the present one, and whether it could serve: the reason against it, or nothing.
std::string Lead::why_not_taken(const ShardHello& hello) const {
  const auto shard = hello.lane.shard;
  const auto name =
      "shard " + std::to_string(shard) + ": the server at " + hello.address + " (" + text(hello.database) + ")";
  const auto& ledger = book_.current();
  if (ledger.timeline == 0 && hello.timeline > 0) {
    return "shard 0's ledger, for its database has none, but shard " + std::to_string(shard) + "'s holds timeline " +
           std::to_string(hello.timeline) +
           " of this job. Start shard 0 with the database that has it, or restore all shards from a copy "
           "(ballast restore)";
  }
  const auto base = ledger.complete.empty() ? SnapshotId{} : ledger.complete.back();
  const auto lacks_base = !lists(ledger, hello.lane, hello.incarnation) && !holds(hello, base)
                              ? name + " is not taken, for its database lacks the snapshot of step " +
                                    std::to_string(base.step) + " (timeline " + std::to_string(base.timeline) +
                                    "), from which the job goes on. Start the shard with the database that has it "
                                    "(the right volume), or restore all shards from a copy (ballast restore)"
                              : std::string();
  // Of the life that the ledger lists nothing may have been heard by this lead.
  if (!lacks_base.empty() && !has_come(shard)) {
    return lacks_base;
  }
  if (!present_.may_be_present(shard, hello.incarnation, hello.database, now_, silence_of(shard))) {
    return name + " is not taken, for " + who_is(shard) +
           " is heard of. End the one that is there by mistake (a wrong "
           "--shard?)" +
           (present_.find(shard)->database.database == hello.database.database
                ? "; both have the same database, or one has a copy or an earlier state of it"
                : "");
  }
  return lacks_base;
}

bool Lead::has_come(std::uint32_t shard) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& known) { return known.first.shard == shard; });
}

std::string Lead::who_is(std::uint32_t shard) const {
  const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& known) {
    return known.first.shard == shard && !known.second.address.empty();
  });
  return (lane == lanes_.end() ? std::string("the one") : "the one at " + lane->second.address) + " (" +
         text(present_.find(shard)->database) + ")";
}

Micros Lead::silence_of(std::uint32_t shard) const {
  Micros silence = 0;
  for (const auto& [id, lane] : lanes_) {
    silence = id.shard == shard ? std::max(silence, lane.silence.deadline()) : silence;
  }
  return silence == 0 ? config_.shard_silence.initial : silence;
}

void Lead::turn_away(const FromLane& event, const ShardHello& hello, std::string why) {
  emit(SendToLane{event.lane, event.incarnation, Refused{RefusalCode::not_taken, why}});
  const auto* present = present_.find(event.lane.shard);
  if (present != nullptr && follows(present->database, hello.database)) {
    return;  // said before the present life began, as a rule, by one that is over
  }
  auto& other = turned_away_[event.lane.shard];
  if (other.incarnation != hello.incarnation) {
    other = {hello.incarnation, now_, 0, {}};
  }
  other.heard_at = now_;
  other.why = std::move(why);
}

void Lead::forget_turned_away() {
  std::erase_if(turned_away_,
                [&](const auto& other) { return now_ > other.second.heard_at + config_.shard_silence.initial; });
}

// A lead whose own database was lost is of no use to shards that have begun. Theirs are whole: it waits for the right
// one, that is, to be ended and started with it.
void Lead::wait_for_ledger() {
  for (const auto& [shard, other] : turned_away_) {
    if (present_.find(shard) == nullptr) {
      waits_for_ = other.why;
      if (now_ > other.since + config_.patience) {
        return fail("gave up waiting for " + waits_for_ + " (cluster.patience)");
      }
    }
  }
}

// A process without the job's end has nothing that it could make durable.
Finish Lead::ending_for(const ShardHello& hello) const {
  auto finish = finish_message();
  const auto* present = present_.find(hello.lane.shard);
  if (finish.ending == Ending::finished && !holds(hello, *book_.durable().finished)) {
    finish.ending = Ending::failed;
    finish.failure = "the job has finished at step " + std::to_string(finish.step) + ", and this server's database (" +
                     text(hello.database) + ") holds nothing of its end";
  } else if (present != nullptr && present->database.database != hello.database.database) {
    finish.ending = Ending::failed;
    finish.failure = "the job is over, and this server (" + text(hello.database) + ") was never taken for shard " +
                     std::to_string(hello.lane.shard) + ", which was that of " + text(present->database);
  }
  return finish;
}

}  // namespace ballast
