#include "server/lead_loop.h"

#include <algorithm>

#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/peer.h"
#include "server/fault.h"

namespace ballast {

namespace {

constexpr Micros kTick = 50'000;
constexpr Micros kTelling = 250'000;
constexpr Micros kClientPatience = 3'000'000;  // a status client unseen for so long has gone; nor do we stay longer
constexpr int kMessagesPerTurn = 256;
// For one peer that doesn't read. All that the lead says is said again when it is asked for.
constexpr int kUnsent = 256;
constexpr std::size_t kMaxClients = 64;  // that are waited for at the end; all are answered

}  // namespace

LeadLoop::LeadLoop(zmq::context_t& context, LeadConfig config, const std::string& bind_address,
                   const std::string& advertised_host, ShardStore& store, DiskRoom& room, Metrics* metrics)
    : router_(context, {.unsent = kUnsent}),
      address_here_(reached_from_here(router_.bind(bind_address))),
      address_(advertised_address(router_.raw().get(zmq::sockopt::last_endpoint), advertised_host)),
      written_timeline_(config.memory.ledger.timeline),
      lead_(std::move(config)),
      store_(store),
      room_(room),
      metrics_(metrics) {}

void LeadLoop::interrupt(std::string reason) { interrupts_.put(std::move(reason)); }

std::string LeadLoop::run() {
  set_log_prefix("lead: ");
  Poll poll;
  poll.add(router_);
  poll.add(interrupts_.fd());
  poll.add(lane_failures_.fd());
  poll.add(ledger_events_.fd());
  // The core knows the time from ticks alone: a shard heard of before the first would seem silent since time began.
  feed(lead::Tick{monotonic_micros()});
  while (!stopped_ || a_client_waits()) {
    turn(poll);
  }
  return failure_;
}

// The one who watches the job is told how it ended before the lead goes. One who asks again and again and never says
// that it is the last time (`ballast status` in a loop) must not keep the process for ever.
bool LeadLoop::a_client_waits() const {
  const auto now = monotonic_micros();
  return !interrupted_ && now - stopped_at_ < kClientPatience &&
         std::any_of(clients_.begin(), clients_.end(),
                     [now](const auto& client) { return now - client.second < kClientPatience; });
}

// Each client waits for itself: one that has seen the end does not speak for the others.
void LeadLoop::note_client(const std::string& name, bool done) {
  const auto now = monotonic_micros();
  std::erase_if(clients_, [now](const auto& client) { return now - client.second >= kClientPatience; });
  if (done) {
    clients_.erase(name);
  } else if (clients_.size() < kMaxClients) {
    clients_[name] = now;
  }
}

void LeadLoop::turn(Poll& poll) {
  const auto now = monotonic_micros();
  poll.wait(next_tick_ <= now ? 0 : static_cast<long>((next_tick_ - now + 999) / 1000));
  const auto begin = monotonic_micros();
  turn_.begin(begin);
  receive();
  for (const auto& event : ledger_events_.take()) {
    feed(event);
  }
  take_ends();
  const auto tick = monotonic_micros();
  if (tick >= next_tick_) {
    next_tick_ = tick + kTick;
    feed(lead::Tick{tick});
    tell_held_lines();
  }
  if (tick >= next_telling_) {
    next_telling_ = tick + kTelling;
    tell_changes();
  }
  metrics_.turn(monotonic_micros() - begin);
}

void LeadLoop::take_ends() {
  auto reasons = interrupts_.take();
  for (auto& reason : lane_failures_.take()) {
    if (lead_.phase() < Lead::Phase::finished) {
      reasons.push_back(std::move(reason));
    }
  }
  for (auto& reason : reasons) {
    stopped_ = true;
    interrupted_ = true;
    failure_ = std::move(reason);
  }
}

void LeadLoop::receive() {
  for (int i = 0; i < kMessagesPerTurn && (i == 0 || !turn_.over()); ++i) {
    const auto received = router_.receive();
    if (!received) {
      return;
    }
    dispatch(received->peer, *received);
  }
}

void LeadLoop::dispatch(const std::string& name, const Received& received) {
  const auto refuse = [&](const Refused& refused) {
    metrics_.refused();
    log_warn("refused a message: {}", refused.text);
    router_.send(name, encoder_.encode(refused));
  };
  const auto peer = parse_routing_id(name);
  if (!peer || received.malformed || received.payload) {
    return refuse({RefusalCode::malformed, "the lead takes one header frame from workers, shards and status clients"});
  }
  const auto decoded = decode(received.header.bytes(), 0, false);
  if (const auto* refused = std::get_if<Refused>(&decoded)) {
    return refuse(*refused);
  }
  const auto& message = std::get<Message>(decoded);
  if (const auto* session = std::get_if<SessionPeer>(&*peer)) {
    feed(lead::FromWorker{session->session, &message});
  } else if (const auto* lane = std::get_if<LanePeer>(&*peer)) {
    feed(lead::FromLane{lane->lane, lane->incarnation, &message});
  } else {
    answer_client(name, message);
  }
}

void LeadLoop::answer_client(const std::string& name, const Message& message) {
  if (const auto* request = std::get_if<StatusRequest>(&message)) {
    note_client(name, request->last);
  } else if (const auto* control = std::get_if<Control>(&message)) {
    note_client(name, false);
    feed(lead::FromClient{control->command});
  } else {
    router_.send(name, encoder_.encode(Refused{RefusalCode::wrong_target,
                                               "a client asks for the status, a stop, a pause or its end only"}));
    return;
  }
  router_.send(name, encoder_.encode(status()));
}

void LeadLoop::feed(const lead::Event& event) {
  for (const auto& action : lead_.step(event)) {
    std::visit([this](const auto& body) { carry_out(body); }, action);
  }
}

void LeadLoop::carry_out(const lead::SendToWorker& action) {
  if (std::holds_alternative<Refused>(action.message)) {
    metrics_.refused();
  }
  router_.send(session_routing_id(action.session), encoder_.encode(action.message));
}

void LeadLoop::carry_out(const lead::SendToLane& action) {
  router_.send(lane_routing_id(action.lane, action.incarnation), encoder_.encode(action.message));
}

void LeadLoop::carry_out(const lead::WriteLedger& action) {
  ledger_.run([this, change = action.change, timeline = written_timeline_] {
    const auto status = room_.await([&] {
      const DiskRoom::Watch watch(room_, "a write of the ledger");
      return store_.write_ledger(change);
    });
    if (status.ok() && change.ledger.timeline != timeline) {
      strike(ServerFault::timeline_recorded);
    }
    if (status.ok()) {
      ledger_events_.put(lead::LedgerWritten{});
    } else {
      ledger_events_.put(lead::LedgerFailed{status.text()});
    }
  });
  written_timeline_ = action.change.ledger.timeline;
}

void LeadLoop::carry_out(const lead::Stop& action) {
  stopped_ = true;
  stopped_at_ = monotonic_micros();
  failure_ = action.failure;
}

// The core is not told of a ledger that waits for room, only of what came of it.
Status LeadLoop::status() const {
  auto status = lead_.status();
  if (const auto trouble = room_.trouble(); status.trouble.empty() && !trouble.empty()) {
    status.trouble = "shard 0: " + trouble;
  }
  return status;
}

// As the lead does: of a long life's sessions the longest dead are not in its status any more.
void LeadLoop::forget_sessions(const Status& status) {
  if (told_live_.size() <= status.sessions.size()) {
    return;
  }
  std::erase_if(told_live_, [&](const auto& told) {
    return std::none_of(status.sessions.begin(), status.sessions.end(),
                        [&](const SessionStatus& session) { return session.session == told.first; });
  });
}

// Whether another one lives under the same name. A worker that was killed and started again has two such sessions until
// the silence of the first is noticed.
bool LeadLoop::is_double(const Status& status, const SessionStatus& session) {
  return std::any_of(status.sessions.begin(), status.sessions.end(), [&](const SessionStatus& other) {
    return other.live && other.session != session.session && other.name == session.name;
  });
}

// Derived from the status, so that the logic is not drowned in logging.
void LeadLoop::tell_changes() {
  const auto status = this->status();
  metrics_.update(status, lead_.generation());
  if (status.phase != told_phase_) {
    told_phase_ = status.phase;
    log_info("{} at step {} of {}{}", status.phase, status.step, status.steps,
             status.failure.empty() ? "" : ": " + status.failure);
  }
  if (status.waits_for != told_waiting_) {
    if (told_waiting_.empty()) {
      log_warn("waiting for {}", status.waits_for);
    }
    told_waiting_ = status.waits_for;
  }
  if (const auto trouble = all_trouble(status); trouble != told_trouble_) {
    told_trouble_ = trouble;
    if (!trouble.empty()) {
      log_warn("{}", trouble);
    }
  }
  if (status.data.value != told_data_) {
    told_data_ = status.data.value;
    log_info("the digest of the job's data is {} ({})", status.data.value, status.data.by);
  }
  forget_sessions(status);
  for (const auto& session : status.sessions) {
    const auto told = told_live_.find(session.session);
    if (told == told_live_.end() || told->second != session.live) {
      log_info("worker {} {}", session.name,
               session.live              ? "joined"
               : session.refusal.empty() ? "left or was lost"
                                         : "is refused");
      if (session.live && is_double(status, session)) {
        log_warn("another live worker is called {} as well; metrics show one of them as {}@SESSION: give each a name",
                 session.name, session.name);
      }
      told_live_[session.session] = session.live;
    }
  }
}

}  // namespace ballast
