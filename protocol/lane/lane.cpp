#include "protocol/lane/lane.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <utility>

#include "protocol/lane/lane_budget.h"
#include "protocol/tree.h"

namespace ballast {

using namespace lane;  // NOLINT(google-build-using-namespace): the events and actions are this file's own words

namespace {

constexpr Micros kLeadAway = 2'000'000;
constexpr int kRepliesAtOnce =
    4096;  // that had waited: what is gone takes no room, so that all of it might come at once

std::string range_text(SlotRange range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

std::uint64_t owned_bytes(const LaneConfig& config) {
  return std::accumulate(config.chunks.begin(), config.chunks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const LaneChunk& chunk) { return sum + chunk.bytes; });
}

CallBook::Limits call_limits(const LaneConfig& config, const LaneApplier& applier) {
  std::uint64_t largest = 0;
  std::optional<ChunkId> statistics;
  for (const auto& chunk : config.chunks) {
    largest = std::max(largest, chunk.bytes);
    statistics = chunk.statistics ? std::optional(chunk.id) : statistics;
  }
  const auto reserve = applier.reserve(config);
  const auto memory = std::max(config.memory_bytes, reserve);
  return {memory,
          reserve,
          largest,
          config.call_overdue,
          config.call_pause,
          statistics,
          std::min(applier.statistics_room(config), memory - reserve),
          owned_bytes(config)};
}

// Nobody has all that may be on its way. What a small lane owns goes out at once: to wait after each chunk until the
// transport has let go of it takes longer than to send it.
LaneSessionLimits session_limits(const LaneConfig& config) {
  constexpr std::uint64_t kSharers = 8;
  constexpr std::uint64_t kSmall = 1U << 20U;
  const auto each = std::max(config.kept_bytes / kSharers, std::min(owned_bytes(config), kSmall));
  const auto all = std::min(config.all_replies_bytes, std::max(config.kept_bytes, kSharers * each));
  return {config.max_sessions, config.session_memory, std::min({config.reply_window_bytes, each, all}), all};
}

bool owns_statistics(const LaneConfig& config) {
  return std::any_of(config.chunks.begin(), config.chunks.end(),
                     [](const LaneChunk& chunk) { return chunk.statistics; });
}

}  // namespace

Lane::Lane(LaneConfig config)
    : config_(std::move(config)),
      sessions_(session_limits(config_), config_.chunks),
      applier_(config_),
      calls_(call_limits(config_, applier_)),
      statistics_(owns_statistics(config_), applier_.parts_of_step()),
      snapshots_(config_.last_timeline, config_.held),
      lead_(config_.lead_silence, kLeadAway),
      era_{config_.last_timeline, config_.last_timeline, {}, false, false} {
  assert(std::ranges::all_of(config_.chunks, [&](const LaneChunk& chunk) {
    return kept_of({chunk}, config_.averages) <= config_.kept_bytes;  // else an update would wait for ever
  }));
}

Actions Lane::step(const Event& event) {
  actions_.clear();
  std::visit([this](const auto& body) { on(body); }, event);
  call_contributions();
  return std::exchange(actions_, {});
}

bool Lane::has_more() const { return applier_.has_more(); }

LaneCounters Lane::counters() const {
  auto counters = counters_;
  counters.replies = sessions_.counters();
  counters.readers = applier_.readers().counters();
  counters.calls = calls_.counters();
  counters.updates = applier_.counters();
  return counters;
}

// ---- the workers' side

void Lane::on(const FromWorker& event) {
  emit_all(calls_.heard(event.session, event.connection, event.payer));
  sessions_.speaks(event.session, event.connection, event.payer);
  // Whatever becomes of what it says.
  const auto payment = take_payment(event);
  const bool is_barred = sessions_.is_barred(event.session);
  if (const auto* hello = std::get_if<LaneHello>(event.message); hello != nullptr && !is_barred) {
    return on_hello(event, *hello);
  }
  const auto* push = std::get_if<Push>(event.message);
  if (is_barred) {
    refuse(event.session, {RefusalCode::wrong_bits,
                           "the lead takes no contributions of this session any more: it sent "
                           "some that cannot have been computed (see the lead's log)"});
  } else if (!sessions_.heard(event.session, lead_.now())) {
    refuse(event.session, {RefusalCode::unknown_session, "this session has not said hello to the lane"});
  } else if (push != nullptr && !calls_.knows(event.session)) {
    refuse(event.session, {RefusalCode::unknown_session, "this session has not said hello over this connection"});
  } else if (payment.kind == CallBook::Payment::Kind::unasked) {
    refuse(event.session, {RefusalCode::out_of_range,
                           "this was not asked for: a contribution is sent when it is called, or within bytes given "
                           "ahead, and no more of these is returned than there was"});
    emit(DropConnection{event.session, event.connection});
  } else if (push != nullptr) {
    return on_push(event, *push, payment);
  } else if (const auto* offers = std::get_if<Offers>(event.message)) {
    on_offers(event, *offers);
  } else if (std::holds_alternative<CallVoid>(*event.message) ||
             std::holds_alternative<BytesReturned>(*event.message)) {
    // Taken note of.
  } else if (const auto* pull = std::get_if<Pull>(event.message)) {
    return on_pull(event.session, *pull);
  } else {
    refuse(event.session, {RefusalCode::wrong_target, "a lane takes hellos, pulls, offers and pushes from workers"});
  }
  if (event.payload != kNoPayload) {
    emit(Drop{event.payload});
  }
}

void Lane::on_hello(const FromWorker& event, const LaneHello& hello) {
  const auto session = event.session;
  if (hello.spec_digest != config_.spec_digest || hello.layout_digest != config_.layout_digest) {
    return refuse(session, {RefusalCode::wrong_job, "this lane serves the job with digest " + config_.spec_digest +
                                                        " and layout " + config_.layout_digest + ", the worker has " +
                                                        hello.spec_digest + " and " + hello.layout_digest +
                                                        "; start the worker with the lead's address of its own job"});
  }
  std::optional<std::uint64_t> credit = 0;
  if (!hello.takes_calls) {
    if (calls_.takes_calls(session)) {
      emit_all(calls_.forget(session));
    }
    credit = calls_.greet_with_credit(session, event.connection, applier_);
  }
  if (!credit) {
    return refuse(session, {RefusalCode::too_many,
                            "the lane has no memory for one more worker of protocol version 13; start the worker with "
                            "programs of this version, or give servers more (cluster.memory_mib)"});
  }
  const bool is_new = !sessions_.contains(session);
  const auto greeting = sessions_.hello(session, lead_.now());
  if (!greeting) {
    emit_all(calls_.forget(session));
    return refuse(
        session, {RefusalCode::too_many, "the lane has " + std::to_string(config_.max_sessions) + " sessions already"});
  }
  if (greeting.forgotten) {
    emit_all(calls_.forget(*greeting.forgotten));
  }
  if (hello.takes_calls) {
    calls_.greet(session, event.connection, event.payer, is_new);
  }
  sessions_.speaks(session, event.connection, event.payer);
  emit(SendToWorker{session, LaneWelcome{era_.timeline, config_.incarnation, *credit}});
}

// ---- what is called

CallBook::Payment Lane::take_payment(const FromWorker& event) {
  using Kind = CallBook::Payment::Kind;
  if (const auto* push = std::get_if<Push>(event.message)) {
    return calls_.pays(event.session, event.connection, *push, event.payload_bytes);
  }
  if (const auto* none = std::get_if<CallVoid>(event.message)) {
    calls_.has_none(event.session, event.connection, none->number, applier_, plan_, era_.timeline);
  } else if (const auto* returned = std::get_if<BytesReturned>(event.message)) {
    const bool was_given = calls_.returns(event.session, event.connection, returned->number, returned->bytes);
    return {was_given ? Kind::paid : Kind::unasked};
  }
  return {Kind::paid};
}

std::optional<Refused> Lane::check_offers(const Offers& offers) const {
  for (const auto& work : offers.works) {
    if (!applier_.served(work.chunk)) {
      return Refused{RefusalCode::wrong_target, "chunk " + std::to_string(work.chunk) + " does not live on this lane"};
    }
    if (!tree::is_node(work.node, config_.slots)) {
      return Refused{RefusalCode::out_of_range, range_text(work.node) + " is no node of the tree over " +
                                                    std::to_string(config_.slots) + " slots"};
    }
    if (applier_.is_of_items() && work.node.size() != 1) {
      return Refused{RefusalCode::out_of_range, range_text(work.node) + " is no item: each slot is one"};
    }
  }
  return std::nullopt;
}

void Lane::on_offers(const FromWorker& event, const Offers& offers) {
  if (!check_timeline(event.session, offers.timeline)) {
    return;
  }
  if (auto refused = check_offers(offers)) {
    return refuse(event.session, std::move(*refused));
  }
  std::vector<Work> wanted;
  for (const auto& work : offers.works) {
    if (applier_.want(work, plan_) == Want::covered) {
      emit(SendToWorker{event.session,
                        Receipt{era_.timeline, work.step, work.chunk, work.node, ReceiptOutcome::duplicate}});
    } else {
      wanted.push_back(work);
    }
  }
  calls_.offers(event.session, event.connection, wanted);
}

void Lane::call_contributions() {
  if (era_.serving && !ending_.stopped) {
    emit_all(calls_.turn(era_.timeline, applier_, plan_));
  }
}

void Lane::on(const ConnectionEnded& event) { calls_.ended(event.session, event.connection); }

bool Lane::check_timeline(SessionId session, Timeline timeline) {
  if (!era_.serving || timeline > era_.timeline) {
    // Not yet: the worker asks again.
    refuse(session,
           {RefusalCode::not_serving, "the lane serves timeline " + std::to_string(era_.serving ? era_.timeline : 0) +
                                          ", not yet " + std::to_string(timeline)});
    return false;
  }
  if (timeline < era_.timeline) {
    ++counters_.stale;
    emit(SendToWorker{session, Stale{era_.timeline}});
    return false;
  }
  return true;
}

void Lane::refuse(SessionId session, Refused refused) {
  ++counters_.refused;
  emit(SendToWorker{session, std::move(refused)});
}

// ---- weights

void Lane::on_pull(SessionId session, const Pull& pull) {
  if (!check_timeline(session, pull.timeline)) {
    return;
  }
  if (pull.averages && !config_.averages) {
    return refuse(session, {RefusalCode::out_of_range, "the job keeps no averages of its weights"});
  }
  Missed gone;
  for (const auto id : pull.chunks) {
    const auto chunk = applier_.served(id);
    if (!chunk) {
      return refuse(session,
                    {RefusalCode::wrong_target, "chunk " + std::to_string(id) + " does not live on this lane"});
    }
    if (!applier_.will_be(pull.version)) {
      return refuse(session, {RefusalCode::out_of_range, "version " + std::to_string(pull.version) + " of chunk " +
                                                             std::to_string(id) + " will never be: the job makes " +
                                                             std::to_string(applier_.version_at(config_.steps)) +
                                                             " updates of a chunk"});
    }
    send(sessions_.want(session, *chunk, {pull.version, pull.clock, pull.averages}), gone);
  }
  tell(gone);
}

void Lane::tell(const Missed& gone) {
  for (const auto& [asked, reply] : gone) {
    emit(SendToWorker{reply.session, Gone{era_.timeline, reply.chunk, reply.version, reply.newest, reply.averages}});
  }
}

void Lane::send(const std::optional<WeightsReply>& reply) {
  Missed gone;
  send(reply, gone);
  tell(gone);
}

void Lane::send(const std::optional<WeightsReply>& reply, Missed& gone) {
  if (!reply) {
    return;
  }
  if (reply->is_gone) {
    auto& told = gone.try_emplace({reply->session, reply->version, reply->averages}, *reply).first->second;
    if (reply->newest > told.newest) {
      told = *reply;
    }
    return;
  }
  const auto reader = sessions_.reader(reply->session);
  const auto number =
      applier_.readers().sends(reader, reply->chunk, reply->bytes, reply->version < reply->newest, reply->averages);
  emit(SendWeights{reply->session, reader.connection,
                   Weights{era_.timeline, config_.incarnation, reply->chunk, reply->version, reply->clock,
                           applier_.journal_sequence(), reply->averages},
                   reply->bytes, number});
  if (!reply->averages) {
    calls_.served(reply->session);
  }
}

void Lane::on(const ReplyReleased& event) {
  const auto released = applier_.readers().released(event.reply);
  if (!released) {
    return;
  }
  const auto session = released->reader.session;
  sessions_.released(session, released->bytes);
  Missed gone;
  for (int i = 0; i < kRepliesAtOnce; ++i) {
    const auto next = sessions_.next_deferred(session);
    if (!next) {
      break;
    }
    send(sessions_.reply(next->session, *applier_.served(next->chunk), next->wanted), gone);
  }
  tell(gone);
}

// ---- contributions

std::optional<Refused> Lane::check_push(const Push& push, std::uint64_t payload_bytes) const {
  const auto chunk = applier_.served(push.chunk);
  if (!chunk) {
    return Refused{RefusalCode::wrong_target, "chunk " + std::to_string(push.chunk) + " does not live on this lane"};
  }
  if (payload_bytes != chunk->bytes) {
    return Refused{RefusalCode::out_of_range, place_of(push) + ": a contribution has " + std::to_string(chunk->bytes) +
                                                  " bytes, this one has " + std::to_string(payload_bytes)};
  }
  if (!tree::is_node(push.node, config_.slots)) {
    return Refused{RefusalCode::out_of_range, place_of(push) + ": " + range_text(push.node) +
                                                  " is no node of the tree over " + std::to_string(config_.slots) +
                                                  " slots"};
  }
  if (push.fault != kNoSlot && !push.node.contains(push.fault)) {
    return Refused{RefusalCode::out_of_range, place_of(push) + ": the slot said to be not finite, " +
                                                  std::to_string(push.fault) + ", does not lie in " +
                                                  range_text(push.node)};
  }
  return std::nullopt;
}

void Lane::on_push(const FromWorker& event, const Push& push, const CallBook::Payment& payment) {
  // What is called is held in the room that it was called into, which of another timeline's work may be too little.
  const bool is_of_another = payment.kind == CallBook::Payment::Kind::other_timeline;
  if (is_of_another) {
    calls_.useless(*payment.payer);
  }
  // Of a timeline that is still to come here: it was sent within bytes given ahead.
  const bool is_too_new = !era_.serving || push.timeline > era_.timeline;
  const bool is_too_late = is_of_another && push.timeline == era_.timeline;
  const auto was_wanted = [&] {  // when it was called
    if (payment.payer && !is_of_another) {
      calls_.useful(event.session, *payment.payer);
    }
  };
  if ((is_too_new || is_too_late) && calls_.takes_calls(event.session)) {
    was_wanted();
    emit(
        SendToWorker{event.session, Receipt{push.timeline, push.step, push.chunk, push.node, ReceiptOutcome::not_yet}});
    emit(Drop{event.payload});
    return;
  }
  if (!check_timeline(event.session, push.timeline)) {
    was_wanted();
    emit(Drop{event.payload});
    return;
  }
  Offered offered;
  offered.refused = check_push(push, event.payload_bytes);
  const Work work{push.step, push.chunk, push.node};
  if (!offered.refused && !calls_.takes_calls(event.session) && applier_.want(work, plan_) == Want::wanted &&
      !calls_.has_room_for(work, event.payload_bytes, applier_)) {
    refuse(event.session, {RefusalCode::not_serving, place_of(push) + ": the lane has no memory for it yet"});
    emit(Drop{event.payload});
    return;
  }
  if (!offered.refused) {
    offered = applier_.offer(event.session, push, event.payload, plan_);
  }
  if (payment.payer) {
    offered.refused ? calls_.useless(*payment.payer) : calls_.useful(event.session, *payment.payer);
  }
  if (offered.refused) {
    refuse(event.session, std::move(*offered.refused));
    emit(Drop{event.payload});
    return;
  }
  emit_all(std::move(offered.actions));
  if (offered.receipt) {
    told_.changed = told_.changed || *offered.receipt == ReceiptOutcome::accepted;
    answer({event.session, push, *offered.receipt}, *applier_.served(push.chunk));
  }
  if (offered.measure) {
    emit(*offered.measure);
  }
}

void Lane::answer(const Answer& answer, const ServedChunk& chunk) {
  const auto& push = answer.push;
  if (!sessions_.contains(answer.session)) {
    return;
  }
  if (answer.outcome == ReceiptOutcome::not_yet && !calls_.takes_calls(answer.session)) {
    return refuse(answer.session, {RefusalCode::not_serving,
                                   place_of(push) + ": the lane's plan ends at item " + std::to_string(plan_.end())});
  }
  emit(SendToWorker{answer.session, Receipt{era_.timeline, push.step, push.chunk, push.node, answer.outcome}});
  if (push.want_next && answer.outcome != ReceiptOutcome::not_yet) {
    send(sessions_.want(answer.session, chunk, applier_.wanted(push)));
  }
}

// ---- updates

void Lane::on(const Measured& event) { carry_out(applier_.measured(event, plan_)); }

void Lane::on(const Committed& event) { carry_out(applier_.committed(event.ticket, event.sequence, plan_)); }

void Lane::on(const JournalSynced& event) {
  if (era_.serving && event.timeline == era_.timeline) {
    applier_.synced(event.before);
    report();
  }
}

void Lane::on(const GoOn& /*event*/) { carry_out(applier_.go_on(plan_)); }

void Lane::cut_readers() {
  if (!applier_.readers().is_look_due()) {
    return;
  }
  for (const auto& reader : applier_.readers().cut()) {
    emit(DropConnection{reader.session, reader.connection});
  }
}

void Lane::emit_all(Actions actions) {
  actions_.insert(actions_.end(), std::make_move_iterator(actions.begin()), std::make_move_iterator(actions.end()));
}

void Lane::carry_out(ApplierOutcome outcome) {
  emit_all(std::move(outcome.actions));
  for (const auto& update : outcome.applied) {
    follow(update);
  }
  for (const auto& each : outcome.answers) {  // with what is there by then
    answer(each, *applier_.served(each.push.chunk));
  }
  if (outcome.whole) {
    emit(SyncJournal{era_.timeline, *outcome.whole});
  }
  if (outcome.report) {
    report();
  }
}

void Lane::follow(const AppliedUpdate& update) {
  for (const auto session : update.contributors) {
    sessions_.contributed(session);
  }
  emit(update.apply);
  std::get<Apply>(actions_.back()).timeline = era_.timeline;
  if (update.of_statistics && update.apply.factors.skip) {
    statistics_.add({update.apply.step, 0, 0, 0});
  }
  told_.changed = true;
  for (const auto& each : update.answers) {
    answer(each, update.served);
  }
  emit_all(calls_.applied(era_.timeline, {update.apply.step, update.apply.chunk, update.node}));
  if (update.at_step) {
    take_into_snapshot(*update.at_step, update.apply.chunk, update.of_statistics);
  }
  for (const auto& reply : sessions_.answer_waiting(update.served)) {
    send(reply);
  }
  if (update.opened) {
    plan_.passed(update.opened->passed);
    report_if_at_barrier(update.opened->step);
  }
}

void Lane::on(const StatisticsRead& event) {
  if (!era_.serving || event.timeline != era_.timeline) {
    return;
  }
  statistics_.add(event.statistics);
  told_.changed = true;
  report_if_at_barrier(applier_.open_step());
}

}  // namespace ballast
