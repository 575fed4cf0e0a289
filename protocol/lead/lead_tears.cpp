// Lanes whose versions are further apart than honest work can bring them: the lead says so, bars who did it, and takes
// the job back.
#include <utility>

#include "protocol/lead/lead.h"

namespace ballast {

using namespace lead;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

std::string text_of(LaneId id) { return "shard " + std::to_string(id.shard) + ", lane " + std::to_string(id.lane); }

}  // namespace

void Lead::check_versions() {
  if (!course_.keeps_versions_together() || !is_confirmed() || !shards_.all_serve() || book_.current().finished) {
    return;
  }
  tears_.observe(shards_.lanes(), config_.steps, now_);
  if (const auto& tear = tears_.found()) {
    return take_back(TornVersions::Tear(*tear));
  }
  if (const auto behind = tears_.to_be_asked(now_)) {
    name_limit();
    ++named_.number;  // the same end: a lane reports when a plan of another number comes
    tears_.asked({config_.life, named_.number});
    send_plan(*behind, shards_.lanes().at(*behind));
  }
}

void Lead::take_back(const TornVersions::Tear& tear) {
  ++tears_met_;
  std::string senders;
  for (const auto session : tear.by) {
    senders += (senders.empty() ? "" : ", ") + sender_text(session);
    bar(session);
  }
  begin_timeline(RollbackCause::torn);
  trouble_ = "a chunk of " + text_of(tear.ahead) + " is at version " + std::to_string(tear.reached) + " while one of " +
             text_of(tear.behind) + " is at version " + std::to_string(tear.open) +
             ": contributions came that cannot have been computed, from " +
             (senders.empty() ? "a session that the shard does not name" : senders) + ". The job goes back to step " +
             std::to_string(book_.current().base.step) + ", and nothing of " +
             (tear.by.size() > 1 ? "theirs" : "that session's") + " is taken any more" +
             (goes_step_by_step() ? "; from now on a step is planned when the one before is done everywhere" : "");
}

// The one place where a sender of contributions gets its name.
std::string Lead::sender_text(SessionId session) const {
  const auto known = sessions_.all().find(session);
  const auto of_worker = [](const LeadSession& of) {
    return "worker " + of.name + (of.key.empty() ? "" : ", key " + of.key);
  };
  return "session " + std::to_string(session) + " (" +
         (known == sessions_.all().end() ? "no worker that the lead knows" : of_worker(known->second)) + ")";
}

void Lead::bar(SessionId session) {
  barred_.bar(session);
  if (const auto known = sessions_.all().find(session); known != sessions_.all().end() && known->second.live) {
    refuse(session, why_barred());
    evaluations_.lose(session);
    turn_.stirred = true;
  }
}

std::string Lead::why_barred() {
  return "contributions of this session cannot have been computed; nothing of it is taken any more (see the lead's "
         "log). Start the worker anew, and if that happens again, look at who else has its key or address";
}

// Whoever does it again under another name finds no lane that goes ahead of the others. That costs each step a round
// trip, as in a job that clips by norm.
bool Lead::goes_step_by_step() const { return tears_met_ > 1; }

}  // namespace ballast
