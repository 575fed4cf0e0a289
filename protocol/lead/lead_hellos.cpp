// The lead's side towards processes that say they are a shard: which of them it takes.
#include <algorithm>
#include <utility>

#include "protocol/lead/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

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
  if (hello.open_step > config_.steps) {
    return refuse(RefusalCode::out_of_range, "shard " + std::to_string(hello.lane.shard) + " says that it is at step " +
                                                 std::to_string(hello.open_step) + " of a job of " +
                                                 std::to_string(config_.steps) + " steps");
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
    shards_.forget_turned_away(event.lane.shard);
    return emit(SendToLane{event.lane, event.incarnation, ending_for(hello)});
  }
  if (auto why = shards_.why_not_taken(hello, book_.current(), now_); !why.empty()) {
    emit(SendToLane{event.lane, event.incarnation, Refused{RefusalCode::not_taken, why}});
    return shards_.turn_away(hello, std::move(why), now_);
  }
  shards_.admit(hello, now_);
  if (book_.current().finished) {
    return;  // the end is being made durable, and what it rests on is: the shard is told of it then
  }
  if (lists(book_.current(), event.lane, event.incarnation)) {
    begin_again_without_base(hello);
    confirm_if_durable();
  } else if (can_resume(hello)) {
    resume_shard(hello);
  } else {
    // A life that the timeline does not list: whatever it held is not what the others' work rests on.
    if (std::exchange(phase_, Phase::assembling) != Phase::assembling) {
      assembling_since_ = now_;  // not again with every hello: patience with who is missing must end
    }
    if (shards_.all_there()) {
      begin_timeline(why_no_shard_resumes());
    }
  }
  begin_if_stalled();
  course_.lives_told();
  begin_again_if_broken();
  begin_again_if_below_cut();
  if (is_confirmed() && lists(book_.durable(), event.lane, event.incarnation)) {
    send_confirm(event.lane, shards_.lanes().at(event.lane));
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

// ---- who is not taken

// A lead whose own database was lost is of no use to shards that have begun. Theirs are whole: it waits for the right
// one, that is, to be ended and started with it.
void Lead::wait_for_ledger() {
  for (const auto& [shard, other] : shards_.turned_away()) {
    if (shards_.present(shard) == nullptr) {
      waits_for_ = other.why;
      if (now_ > other.since + config_.patience) {
        return fail("gave up waiting for " + waits_for_ + " (cluster.patience)");
      }
    }
  }
}

// By what it says now, or has said since: a hello may be late.
bool Lead::has_end(const ShardHello& hello) const {
  const auto end = *book_.durable().finished;
  const auto lane = shards_.lanes().find(hello.lane);
  return holds(hello, end) || (shards_.is_there(hello.lane, hello.incarnation) &&
                               std::ranges::find(lane->second.report.held, end) != lane->second.report.held.end());
}

// A process without the job's end has nothing that it could make durable.
Finish Lead::ending_for(const ShardHello& hello) const {
  auto finish = finish_message();
  const auto* present = shards_.present(hello.lane.shard);
  if (finish.ending == Ending::finished && !has_end(hello)) {
    finish.ending = Ending::failed;
    finish.failure = "the job has finished at step " + std::to_string(finish.step) + ", and this server's database (" +
                     database_text(hello.database) + ") holds nothing of its end";
  } else if (present != nullptr && present->database.database != hello.database.database) {
    finish.ending = Ending::failed;
    finish.failure = "the job is over, and this server (" + database_text(hello.database) +
                     ") was never taken for shard " + std::to_string(hello.lane.shard) + ", which was that of " +
                     database_text(present->database);
  }
  return finish;
}

}  // namespace ballast
