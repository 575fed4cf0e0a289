#include "tests/simulation/worker_shell.h"

#include <algorithm>
#include <tuple>

#include "protocol/tree.h"
#include "tests/simulation/judge/violation.h"
#include "tests/simulation/words.h"

namespace ballast::simulation {

namespace {

constexpr const char* kToldToLeave = "it was told to leave";

WorkerConfig worker_config(const LifeSpec& life, const std::string& name) {
  WorkerConfig config;
  config.name = name;
  config.heartbeat_every = life.heartbeat_every;
  config.hello_every = life.hello_every;
  config.lead_silence = life.lead_silence;
  config.retry = life.retry;
  config.offers_every = life.offers_every;
  config.offered_for = life.offered_for;
  return config;
}

}  // namespace

WorkerShell::WorkerShell(World& world, ProcessId id, std::string name, LifeWorker speed)
    : Process(id, std::move(name)),
      speed_(std::move(speed)),
      core_(worker_config(world.life, this->name())),
      weights_(world.life.chunks.size()),
      ordered_(world.life.slots),
      arenas_{world.life.chunks.size(),
              std::vector<std::size_t>(tree::buffers_needed({0, world.life.slots}) + world.life.spare_arenas)},
      views_(world.life.all_lanes()),
      lanes_(world.life.all_lanes(), kNobody) {
  world.judge.worker_starts(id, this->name(), speed_);
}

void WorkerShell::tick(Host& host, Micros clock) {
  step(host, worker::Tick{clock});
  check_waiting(host);
}

void WorkerShell::carry_out(Host& host, const WorkerPending& what) {
  std::visit([&](const auto& each) { done(host, each); }, what);
}

void WorkerShell::receive(Host& host, ProcessId from, const Message& message, const std::optional<Payload>& payload) {
  if (host.is_lead(from)) {
    heard_ = from;
    if (const auto* welcome = std::get_if<WorkerWelcome>(&message)) {
      newest_timeline_ = std::max(newest_timeline_, welcome->timeline);
    } else if (const auto* assign = std::get_if<Assign>(&message)) {
      take_grants(*assign);
      ordered_.heard(*assign);
    }
    return step(host, worker::FromLead{&message});
  }
  const auto lane = std::find(lanes_.begin(), lanes_.end(), from);
  if (lane == lanes_.end()) {
    return;  // from a connection that was given up
  }
  auto& view = views_[static_cast<std::size_t>(lane - lanes_.begin())];
  if (std::holds_alternative<LaneWelcome>(message)) {
    view.is_welcome = true;
  } else if (const auto* refused = std::get_if<Refused>(&message)) {
    view.is_welcome = view.is_welcome && refused->code != RefusalCode::unknown_session;
  }
  PayloadId id = kNoPayload;
  if (const auto* receipt = std::get_if<Receipt>(&message)) {
    note_receipt(host, *receipt);
  } else if (const auto* stale = std::get_if<Stale>(&message)) {
    newest_timeline_ = std::max(newest_timeline_, stale->timeline);
  } else if (const auto* weights = std::get_if<Weights>(&message)) {
    id = next_payload_++;
    kept_[id] = {false, weights->chunk, weights->version, {}, payload.value(), 0, false, 0, *weights};
    auto& newest = newest_seen_[{weights->timeline, weights->chunk}];
    newest = std::max(newest, weights->version);
  }
  step(host, worker::FromLane{static_cast<std::uint32_t>(lane - lanes_.begin()), &message, id});
}

void WorkerShell::connection_over(Host& host, ProcessId lane) {
  const auto at = std::find(lanes_.begin(), lanes_.end(), lane);
  if (alive() && at != lanes_.end()) {
    views_[static_cast<std::size_t>(at - lanes_.begin())] = {};
    step(host, worker::ConnectionOver{static_cast<std::uint32_t>(at - lanes_.begin())});
  }
}

void WorkerShell::note_receipt(Host& host, const Receipt& receipt) {
  for (auto& [id, kept] : kept_) {
    if (kept.is_gradient && kept.payload.timeline == receipt.timeline && kept.chunk == receipt.chunk &&
        kept.step == receipt.step && kept.node == receipt.node) {
      kept.receipted = receipt.outcome != ReceiptOutcome::not_yet;
      kept.sent_over = kept.receipted ? kept.sent_over : 0;
      if (receipt.outcome == ReceiptOutcome::expired) {
        grants_.expired.insert(receipt.step * host.life().slots + receipt.node.begin);
      }
    }
  }
}

void WorkerShell::step(Host& host, const worker::Event& event) {
  auto actions = core_.step(event);
  if (std::holds_alternative<worker::Prepared>(event) || std::holds_alternative<worker::Computed>(event) ||
      std::holds_alternative<worker::Evaluated>(event)) {
    state_.move(host.facts().worker, WorkerState::ready);
  }
  for (auto& action : actions) {
    std::visit([&](auto& body) { act(host, body); }, action);
  }
  if (alive()) {
    check_kept();
    check_withdrawn();
  }
}

// ---- actions

void WorkerShell::act(Host& host, worker::SendToLead& action) {
  if (const auto* beat = std::get_if<Heartbeat>(&action.message)) {
    if (beat->order < order_) {
      throw Violation(name() + " follows an older order again, " + words(beat->order) + " after " + words(order_));
    }
    order_ = beat->order;
    check_delivered(host, *beat);
    check_dropped(*beat);
  }
  if (const auto* goodbye = std::get_if<Goodbye>(&action.message);
      goodbye != nullptr && goodbye->reason == kToldToLeave) {
    check_left(host);
  }
  host.send(*this, host.lead_id(), std::move(action.message));
}

void WorkerShell::act(Host& host, worker::SendToLane& action) {
  if (const auto* pushed = std::get_if<Push>(&action.message)) {
    return push(host, action.lane, *pushed, action.payload);
  }
  if (const auto* pull = std::get_if<Pull>(&action.message)) {
    check_pull(*pull);
  } else if (const auto* offers = std::get_if<Offers>(&action.message)) {
    views_[action.lane].offered = offers->works;
  }
  require(action.payload == kNoPayload, "a message other than a push carries a payload");
  host.send(*this, lanes_.at(action.lane), std::move(action.message));
}

void WorkerShell::push(Host& host, std::uint32_t lane, const Push& push, PayloadId id) {
  const auto found = kept_.find(id);
  if (found == kept_.end() || !found->second.is_gradient) {
    throw Violation(name() + " sends a gradient that it has given up");
  }
  auto& kept = found->second;
  if (kept.chunk != push.chunk || kept.step != push.step || kept.node != push.node ||
      kept.payload.timeline != push.timeline || kept.payload.fault != push.fault) {
    throw Violation(name() + " sends a gradient under another name");
  }
  require(!has_expired(host, kept), "a part of an item is sent after another part of it has expired");
  const auto connection = host.newest_connection(this->id(), lanes_.at(lane));
  require(kept.sent_over != connection, "a contribution is sent twice over one connection");
  kept.sent_over = connection;
  if (withholds_) {
    return host.facts().note(Fact::withheld, push.call != 0);
  }
  host.send(*this, lanes_.at(lane), push, kept.payload);
}

// ---- items

void WorkerShell::leave(Host& host) {
  host.say(name() + " is told to leave");
  excuse();
  told_at_ = host.now();
  step(host, worker::Drain{kToldToLeave});
}

void WorkerShell::take_grants(const Assign& assign) {
  for (const auto& grant : assign.items.grants) {
    grants_.items[grant.clock] = grant.item;
  }
}

void WorkerShell::act(Host& host, worker::Stop& action) {
  state_.move(host.facts().worker, WorkerState::stopped);
  if (action.for_good) {
    refused_ = true;
    host.judge().refused(id());
    host.facts().note(Fact::refused_data, action.failure.find("other data") != std::string::npos);
    host.facts().note(Fact::refused_arithmetic, action.failure.find("other arithmetic") != std::string::npos);
  }
  end(host, action.failure);
}

}  // namespace ballast::simulation
