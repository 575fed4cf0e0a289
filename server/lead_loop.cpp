#include "server/lead_loop.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"

namespace ballast {

namespace {

constexpr Micros kTick = 20'000;
constexpr Micros kTelling = 250'000;
constexpr int kMessagesPerTurn = 256;
// For one peer that doesn't read. All that the lead says is said again when it is asked for.
constexpr int kUnsent = 256;
// Of one peer: a lane reports twenty times a second, and reports may be long.
constexpr int kUnread = 64;
constexpr std::size_t kTraceRecords = 4096;

// By which the page of this process is known: no client's routing id is empty.
const std::string kPageOfProcess;

std::vector<TraceSource> lanes_of(const LeadConfig& config) {
  std::vector<TraceSource> lanes;
  for (std::uint32_t shard = 0; shard < config.shards; ++shard) {
    for (std::uint32_t lane = 0; lane < config.lanes; ++lane) {
      lanes.push_back({TraceRole::lane, {shard, lane}, 0});
    }
  }
  return lanes;
}

// Of a command line: of nobody who has records.
TraceSource source_of(const Peer& peer) {
  if (const auto* session = std::get_if<SessionPeer>(&peer)) {
    return {TraceRole::worker, {}, session->session};
  }
  const auto* lane = std::get_if<LanePeer>(&peer);
  return lane == nullptr ? TraceSource{} : TraceSource{TraceRole::lane, lane->lane, 0};
}

}  // namespace

LeadLoop::LeadLoop(zmq::context_t& context, const ServerKeys& keys, LeadConfig config, const std::string& bind_address,
                   const std::string& advertised_host, ShardStore& store, DiskRoom& room, Metrics* metrics,
                   SocketKeeping keeping, Page* page)
    : router_(context, {.unsent = kUnsent, .unread = kUnread, .intake = keeping.intake(keys)}, bind_address,
              keys.secret_key()),
      address_here_(reached_from_here(router_->endpoint())),
      address_(advertised_address(router_->endpoint(), advertised_host)),
      ledger_(store, room, config.memory.ledger.timeline),
      lanes_(lanes_of(config)),
      lead_(std::move(config)),
      metrics_(metrics),
      peers_(keys.authenticator()),
      handshakes_(metrics, "lead"),
      unsent_(keys.authenticator() != nullptr),
      trace_(kTraceRecords),
      ticks_(kTick),
      tellings_(kTelling),
      keeping_(std::move(keeping)),
      page_(page) {}

void LeadLoop::interrupt(std::string reason) { interrupts_.put(std::move(reason)); }

std::string LeadLoop::run() {
  set_log_prefix("lead: ");
  auto poll = watched();
  // The core knows the time from ticks alone: a shard heard of before the first would seem silent since time began.
  lead_.hear(lead::Tick{monotonic_micros()});
  while (!ending_ || a_client_waits()) {
    turn(poll);
    if (std::exchange(is_renewed_, false)) {
      poll = watched();
    }
  }
  router_->forget_callers();
  return ending_->failure;
}

Poll LeadLoop::watched() {
  Poll poll;
  poll.add(*router_);
  poll.add(interrupts_.fd());
  poll.add(hurries_.fd());
  poll.add(lane_failures_.fd());
  poll.add(ledger_.fd());
  if (page_ != nullptr) {
    poll.add(page_->line().fd());
  }
  return poll;
}

// A lead that keeps up has nothing in the transport. For one that does not, a megabyte of each session is more than
// they have to say.
void LeadLoop::look_at_memory(Micros now) {
  constexpr Micros kKeepsUp = 1'000'000;
  constexpr std::uint64_t kMayWait = 1U << 20U;  // of a session
  if (!keeping_.memory) {
    return;
  }
  const auto waiting = now - read_up_at_ < kKeepsUp ? 0 : kMayWait;
  keeping_.memory->tell(unsent_.bytes(), kMaxSessions * waiting, waiting);
  if (keeping_.memory->takes_order()) {
    log_warn("cuts all who are connected to it: {}", router_.renew());
    keeping_.guard(router_->gate());
    is_renewed_ = true;
  }
}

bool LeadLoop::a_client_waits() const { return !ending_->at_once && clients_.any(ending_->at, monotonic_micros()); }

void LeadLoop::turn(Poll& poll) {
  poll.wait(ticks_.until(monotonic_micros()));
  turn_.begin(monotonic_micros());
  receive();
  const auto now = monotonic_micros();
  for (const auto& event : ledger_.take()) {
    metrics_.ledger_written(now - ledger_asked_);
    lead_.hear(event);
  }
  take_ends();
  answer_page();
  if (ticks_.take(now)) {
    lead_.hear(lead::Tick{now});
    handshakes_.take(router_->callers());
    tell_held_lines();
    look_at_memory(now);
  }
  settle();
  if (tellings_.take(now)) {
    tell_changes();
  }
  metrics_.turn(monotonic_micros() - turn_.began());
}

void LeadLoop::take_ends() {
  for (const auto& hurry : hurries_.take()) {
    lead_.hear(hurry);
  }
  auto reasons = interrupts_.take();
  for (auto& reason : lane_failures_.take()) {
    if (lead_.phase() < Lead::Phase::finished) {
      reasons.push_back(std::move(reason));
    }
  }
  for (auto& reason : reasons) {
    ending_ = Ending{std::move(reason), 0, true};
  }
}

void LeadLoop::receive() {
  for (int i = 0; i < kMessagesPerTurn && (i == 0 || !turn_.over()); ++i) {
    const auto received = router_->receive();
    if (!received) {
      read_up_at_ = monotonic_micros();
      return;
    }
    turn_.spend_header(received->header.size());
    dispatch(received->peer, *received);
  }
}

void LeadLoop::refuse(const Received& received, const Refused& refused, std::uint32_t version) {
  metrics_.refused();
  const auto from = parse_routing_id(received.peer);
  log_warn("refused a message of {}: {}", from ? name_of_peer(from->peer) : "a stranger", refused.text);
  tell(received.peer, unsent_.frame({received.peer, received.header.key()}, encoder_.encode(refused, version)));
}

void LeadLoop::dispatch(const std::string& routing_id, const Received& received) {
  const auto from = parse_routing_id(routing_id);
  const std::string first(from ? from->first : std::string_view());
  if (!from || received.malformed || received.payload) {
    return refuse(received,
                  {RefusalCode::malformed, "the lead takes one header frame from workers, shards and status clients"},
                  peers_.version_of(first));
  }
  if (auto why = peers_.heard(*from, received.header.key()); !why.empty()) {
    return refuse(received, {RefusalCode::not_taken, std::move(why)}, peers_.version_of(first));
  }
  const auto decoded = decode(received.header.bytes(), 0, false);
  peers_.tells_time(*from, decoded.clock, monotonic_micros());
  if (peers_.speaks(*from, decoded.version)) {
    log_info("{} speaks protocol version {}, and is answered in it", name_of_peer(from->peer), decoded.version);
  }
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    return refuse(received, *refused, version_to_refuse_in(decoded.version, peers_.version_of(first)));
  }
  const auto& message = std::get<Message>(decoded);
  if (const auto* part = std::get_if<TracePart>(&message)) {
    return pass_back(source_of(from->peer), *part);
  }
  if (const auto* report = std::get_if<LaneReport>(&message); report != nullptr && !report->measures.empty()) {
    decisions_.measured_at = monotonic_micros();
  }
  if (const auto* session = std::get_if<SessionPeer>(&from->peer)) {
    metrics_.heard(session->session, monotonic_micros());
    auto key = std::holds_alternative<WorkerHello>(message) ? peers_.key_of(first) : std::string();
    lead_.hear(lead::FromWorker{session->session, &message, std::move(key)}, monotonic_micros());
  } else if (const auto* lane = std::get_if<LanePeer>(&from->peer)) {
    lead_.hear(lead::FromLane{lane->lane, lane->incarnation, &message}, monotonic_micros());
  } else {
    answer_client(first, message);
  }
}

bool LeadLoop::send(const std::string& first, const Message& message) {
  const auto routing_id = peers_.reached_by(first);
  return tell(routing_id, unsent_.frame({routing_id, peers_.public_key_of(first)},
                                        encoder_.encode(message, peers_.version_of(first),
                                                        peers_.clock_for(first, monotonic_micros()))));
}

// Who does not read is told no more meanwhile: it asks again. False: nobody is there by that name.
bool LeadLoop::tell(const std::string& routing_id, std::optional<zmq::message_t> frame) {
  if (!frame) {
    const auto from = parse_routing_id(routing_id);
    log_warn("{} does not read what it is told, and is told no more meanwhile",
             from ? name_of_peer(from->peer) : "a stranger");
    return true;
  }
  return router_->send(routing_id, *frame);
}

void LeadLoop::answer_client(const std::string& first, const Message& message) {
  if (const auto* request = std::get_if<StatusRequest>(&message)) {
    clients_.note(first, request->last, monotonic_micros());
  } else if (const auto* control = std::get_if<Control>(&message)) {
    clients_.note(first, false, monotonic_micros());
    lead_.hear(lead::FromClient{control->command});
  } else if (const auto* asked = std::get_if<TraceAsked>(&message)) {
    return answer_trace(first, *asked);
  } else {
    send(first, Refused{RefusalCode::wrong_target,
                        "a client asks for the status, for measurements, a stop, a pause or its end only"});
    return;
  }
  const auto bytes = answers_.answer(peers_.version_of(first), monotonic_micros(), [this] { return status(); });
  const auto routing_id = peers_.reached_by(first);
  tell(routing_id, unsent_.frame({routing_id, peers_.public_key_of(first)}, bytes));
}

// ---- what was measured

// A status costs as much as there are sessions, so one may be as old as those that are shown.
const std::vector<TraceSource>& LeadLoop::trace_sources() {
  const auto now = monotonic_micros();
  if (sources_.at != 0 && now < sources_.at + StatusAnswers::kAge) {
    return sources_.all;
  }
  sources_ = {{{TraceRole::lead, {}, 0}}, now};
  sources_.all.insert(sources_.all.end(), lanes_.begin(), lanes_.end());
  for (const auto& session : lead_.status().sessions) {
    if (session.live) {
      sources_.all.push_back({TraceRole::worker, {}, session.session});
    }
  }
  return sources_.all;
}

std::string LeadLoop::known_as(const TraceSource& source) const {
  std::string first;
  if (source.role == TraceRole::worker) {
    first = session_routing_id(source.session);
  } else if (const auto lane = lead_.shards().lanes().find(source.lane); lane != lead_.shards().lanes().end()) {
    first = lane_routing_id(source.lane, lane->second.incarnation);
  }
  return peers_.version_of(first) < kClocksSince ? std::string() : first;
}

std::optional<SharingRules> LeadLoop::sharing_rules() const {
  const auto* shares = lead_.shares();
  if (shares == nullptr) {
    return std::nullopt;
  }
  const auto& rules = shares->rules();
  return SharingRules{rules.step.slots, rules.step.chunks, rules.step.bytes, rules.by_speed, rules.redistributes};
}

void LeadLoop::answer(const std::string& asker, TracePart part) {
  if (asker == kPageOfProcess) {
    page_->line().answer(std::move(part));
  } else {
    send(asker, part);
  }
}

void LeadLoop::answer_page() {
  if (page_ != nullptr) {
    for (const auto& asked : page_->line().take_questions()) {
      answer_trace(kPageOfProcess, asked);
    }
  }
}

// Who asks for what nobody can tell is told that there is nothing.
void LeadLoop::answer_trace(const std::string& first, const TraceAsked& asked) {
  TracePart part;
  if (!asked.source) {
    part.sources = trace_sources();
    part.rules = sharing_rules();
  } else if (asked.source->role == TraceRole::lead) {
    part = part_of(trace_, asked);
    const auto now = monotonic_micros();
    part.clock = ClockReading{now, now, 0, 0};
  } else {
    const auto other = known_as(*asked.source);
    if (!other.empty() && send(other, relay_.pass_on(first, asked))) {
      return;
    }
    part.source = *asked.source;
  }
  part.number = asked.number;
  part.ends = part.ends || part.records.empty();
  answer(first, std::move(part));
}

void LeadLoop::pass_back(const TraceSource& source, const TracePart& part) {
  if (auto answered = relay_.answered(source, part)) {
    answer(answered->client, std::move(answered->part));
  }
}

// Of a step whose update needs the whole gradient: from the last measure that was heard until the first lane is told.
void LeadLoop::trace_decision(const Plan& plan) {
  if (plan.factors.empty()) {
    return;
  }
  if (std::exchange(decisions_.timeline, plan.timeline) != plan.timeline) {
    decisions_.planned = 0;
  }
  const auto planned = plan.first + plan.factors.size();
  if (planned > std::exchange(decisions_.planned, std::max<Step>(planned, decisions_.planned)) &&
      decisions_.measured_at != 0) {
    trace_.add({.step = planned - 1,
                .first = decisions_.measured_at,
                .second = monotonic_micros(),
                .kind = TraceKind::decision});
  }
}

void LeadLoop::settle() {
  for (const auto& action : lead_.settle()) {
    std::visit([this](const auto& body) { carry_out(body); }, action);
  }
}

void LeadLoop::carry_out(const lead::SendToWorker& action) {
  const auto first = session_routing_id(action.session);
  if (const auto* refused = std::get_if<Refused>(&action.message)) {
    metrics_.refused();
    if (const auto key = peers_.key_of(first); !key.empty() && refused->code != RefusalCode::unknown_session) {
      log_warn("session {}, whose key is {}, is refused: {}", action.session, key, refused->text);
    }
  }
  if (!send(first, action.message)) {
    lead_.hear(lead::Unreachable{action.session});
  }
}

void LeadLoop::carry_out(const lead::SendToLane& action) {
  if (const auto* plan = std::get_if<Plan>(&action.message)) {
    trace_decision(*plan);
  }
  send(lane_routing_id(action.lane, action.incarnation), action.message);
}

void LeadLoop::carry_out(const lead::WriteLedger& action) {
  ledger_asked_ = monotonic_micros();
  ledger_.write(action.change);
}

// Nobody is waited for after an interruption.
void LeadLoop::carry_out(const lead::Stop& action) {
  if (!ending_ || !ending_->at_once) {
    ending_ = Ending{action.failure, monotonic_micros(), false};
  }
}

// The core is not told of a ledger that waits for room, only of what came of it.
Status LeadLoop::status() const {
  auto status = lead_.status();
  if (const auto trouble = ledger_.trouble(); status.trouble.empty() && !trouble.empty()) {
    status.trouble = "shard 0: " + trouble;
  }
  return status;
}

void LeadLoop::tell_changes() {
  const auto status = this->status();
  metrics_.update(status, lead_.generation(), lead_.shards(), monotonic_micros());
  const auto news = news_.of(status);
  for (const auto& line : news) {
    log_line(line.level, line.kind, line.text);
  }
  if (page_ != nullptr) {
    tell_page(status, news);
  }
}

// Which data and which names are none of the job's course.
void LeadLoop::tell_page(const Status& status, const std::vector<LeadNews::Line>& news) {
  const auto now = monotonic_micros();
  for (const auto& line : news) {
    if (line.kind != "data" && line.kind != "double") {
      const bool is_beginning = line.kind == "waiting" && status.phase == JobPhase::assembling;  // they come one by one
      page_->history().tell(line.kind, line.text, line.is_wrong && !is_beginning);
    }
  }
  page_->history().note(status, now);
  if (page_->line().is_view_wanted()) {
    page_->line().show({status, shard_views(), now});
  }
}

std::vector<ShardView> LeadLoop::shard_views() const {
  std::vector<ShardView> views(lanes_.empty() ? 0 : lanes_.back().lane.shard + 1);
  for (const auto& [id, lane] : lead_.shards().lanes()) {
    auto& view = views.at(id.shard);
    const auto open = lane.report.open_step;
    view.heard_at = view.lanes == 0 ? lane.heard_at : std::min(view.heard_at, lane.heard_at);
    view.first = view.lanes == 0 ? open : std::min(view.first, open);
    view.last = std::max(view.last, open);
    ++view.lanes;
    view.serving += lane.report.serving ? 1 : 0;
    view.departs = view.departs || lane.report.departing;
  }
  return views;
}

}  // namespace ballast
