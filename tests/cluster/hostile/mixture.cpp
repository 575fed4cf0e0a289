// A peer with a valid key that says at random all that its key allows it to say, and what it does not, but for values
// of open work, which would count.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/net/peer.h"
#include "protocol/tree.h"
#include "tests/cluster/hostile/ending.h"
#include "tests/cluster/hostile/greeting.h"
#include "tests/cluster/hostile/hostile.h"
#include "tests/cluster/hostile/talker.h"
#include "tests/unit/common/wire/random_message.h"

namespace ballast::hostile {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kConnections = 16;
constexpr std::size_t kCrowd = 8;    // sessions that say hello and are gone
constexpr std::size_t kSmall = 400;  // one-byte messages in a row
constexpr std::size_t kPulls = 40;   // of everything
constexpr std::size_t kHeard = 100;  // messages at once
constexpr Step kStepsOffered = 4;    // from the open one of which it offers
constexpr std::size_t kUnended = 4;  // connections in the midst of a message at once
constexpr auto kUnendedFor = std::chrono::seconds(2);
constexpr std::array<std::size_t, 3> kPartBytes = {100, 64 << 10, 1 << 20};

// `offerer`: mostly says to a lane what is said of contributions, so that the lane deals with it.
enum class Role : std::uint8_t { worker, known_worker, offerer, lane, command };

// Where it may connect to.
struct Target {
  std::string address;
  bool is_lead = false;
  std::vector<Chunk> chunks;  // of a lane
};

struct Connection {
  std::unique_ptr<Talker> talker;
  const Target* target = nullptr;
  Role role = Role::worker;
  bool reads = false;
  std::uint64_t ahead = 0;        // bytes given ahead, as far as it has read
  std::uint64_t last_called = 0;  // the number of the last call
};

class Mixture {
 public:
  Mixture(zmq::context_t& context, const std::string& lead, const MixtureOptions& options, WorkerWelcome welcome,
          Step over)
      : context_(context),
        options_(options),
        keys_(options.key),
        welcome_(std::move(welcome)),
        job_(make_job(parse_job(welcome_.job, "the lead's job"))),
        over_(over),
        open_(over),
        random_(options.seed),
        messages_(options.seed + 1),
        payload_((1 << 20) + sizeof(float)) {
    targets_.push_back({lead, true, {}});
    const Placement placement(job_.arena, welcome_.shards, welcome_.lanes);
    for (const auto& entry : welcome_.addresses) {
      auto& target = targets_.emplace_back(Target{entry.address, false, {}});
      for (const auto& chunk : job_.arena.chunks) {
        if (LaneId{placement[chunk.id].shard, placement[chunk.id].lane} == entry.lane) {
          target.chunks.push_back(chunk);
        }
      }
    }
    for (std::size_t i = 0; i < kConnections; ++i) {
      connections_.push_back(connect());
    }
  }

  void run() {
    const auto until = Clock::now() + std::chrono::duration<double>(options_.seconds);
    while (Clock::now() < until && !is_told_to_end()) {
      auto& connection = connections_[below(connections_.size())];
      if (!act(connection)) {
        ++counts_["full"];
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (connection.reads) {
        hear(connection);
      }
      drop_unended();
    }
    std::printf("{");
    for (const auto& [what, count] : counts_) {
      std::printf("%s\"%s\": %llu", what == counts_.begin()->first ? "" : ", ", what.c_str(),
                  static_cast<unsigned long long>(count));
    }
    std::printf("}\n");
    std::fflush(stdout);
  }

 private:
  // Whether the connection took something.
  bool act(Connection& connection) {
    if (connection.role == Role::offerer && below(20) > 0) {
      return about_contributions(connection);
    }
    switch (below(20)) {
      case 0:
        return small_messages(connection);
      case 1:
        return pulls_of_all(connection);
      case 2:
        connection = connect();
        ++counts_["connections"];
        return true;
      case 3:
        return crowd(connection);
      case 4:
        return unended(connection);
      case 5:
      case 6:
      case 7:
        return count("random", connection.talker->send(messages_.of_kind(below(std::variant_size_v<Message>))));
      default:
        return plausible(connection);
    }
  }

  bool count(const std::string& what, bool taken) {
    counts_[what] += taken ? 1 : 0;
    return taken;
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  std::string routing_id(Role role) {
    switch (role) {
      case Role::known_worker:
        if (options_.claims.size() > 2) {
          const auto session =
              std::strtoull(options_.claims[2 + below(options_.claims.size() - 2)].c_str(), nullptr, 10);
          return routing_id_of(session_routing_id(session), static_cast<std::uint32_t>(below(5)), random_());
        }
        [[fallthrough]];
      case Role::worker:
      case Role::offerer:
        return session_routing_id(1 + (random_() >> 1U));
      case Role::lane: {
        const auto& entry = welcome_.addresses[below(welcome_.addresses.size())];
        return lane_routing_id(entry.lane, below(2) == 0 ? entry.incarnation : random_());
      }
      case Role::command:
        return client_routing_id(random_());
    }
    return {};
  }

  Connection connect() {
    constexpr std::array kRoles = {Role::worker,  Role::worker, Role::worker, Role::known_worker,
                                   Role::offerer, Role::lane,   Role::command};
    Connection made;
    made.role = kRoles[below(kRoles.size())];
    made.target = &targets_[made.role != Role::offerer && below(2) == 0 ? 0 : 1 + below(targets_.size() - 1)];
    made.reads = made.role == Role::offerer || below(2) == 0;
    made.talker = std::make_unique<Talker>(context_, made.target->address, routing_id(made.role), &keys_);
    if (made.role == Role::worker) {
      made.talker->send(hello(*made.target));
    } else if (made.role == Role::offerer) {
      made.talker->send(LaneHello{"hostile", job_.spec_digest, job_.layout_digest, true});
    }
    return made;
  }

  Message hello(const Target& target) {
    if (target.is_lead) {
      return WorkerHello{"hostile " + std::to_string(below(100))};
    }
    return LaneHello{"hostile " + std::to_string(below(100)), job_.spec_digest, job_.layout_digest, below(2) == 0};
  }

  bool small_messages(Connection& connection) {
    static constexpr std::array<std::byte, 1> kByte = {std::byte{'x'}};
    std::size_t taken = 0;
    while (taken < kSmall && connection.talker->send(kByte)) {
      ++taken;
    }
    counts_["small"] += taken;
    return taken > 0;
  }

  // Of a version that is there, or of one that is gone; nothing of the answers is read meanwhile.
  bool pulls_of_all(Connection& connection) {
    if (connection.target->is_lead) {
      return plausible(connection);
    }
    Pull pull{welcome_.timeline, below(2) == 0 ? kNewestVersion : below(over_), {}};
    for (const auto& chunk : connection.target->chunks) {
      pull.chunks.push_back(chunk.id);
    }
    std::size_t taken = 0;
    while (taken < kPulls && connection.talker->send(pull)) {
      ++taken;
    }
    counts_["pulls of all"] += taken;
    return taken > 0;
  }

  bool crowd(Connection& like) {
    for (std::size_t i = 0; i < kCrowd; ++i) {
      Talker talker(context_, like.target->address, session_routing_id(1 + (random_() >> 1U)), &keys_);
      talker.send(hello(*like.target));
      if (i == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the others go before their handshakes end
      }
    }
    counts_["crowd"] += kCrowd;
    return true;
  }

  // A message whose last part is never sent: the connection goes before.
  bool unended(const Connection& like) {
    if (unended_.size() >= kUnended) {
      return true;
    }
    auto talker = std::make_unique<Talker>(context_, like.target->address, routing_id(Role::worker), &keys_);
    talker->send(hello(*like.target));
    talker->send_parts(2000, kPartBytes[below(kPartBytes.size())]);
    unended_.emplace_back(Clock::now() + kUnendedFor, std::move(talker));
    ++counts_["unended"];
    return true;
  }
  void drop_unended() {
    std::erase_if(unended_, [](const auto& entry) { return Clock::now() > entry.first; });
  }

  // What a worker could well say there, but for something in it.
  bool plausible(Connection& connection) {
    if (connection.role == Role::command) {
      const auto command = static_cast<Control::Command>(below(3));
      return count("commands", connection.talker->send(below(3) == 0 ? Message(StatusRequest{}) : Control{command}));
    }
    if (connection.role == Role::lane) {
      return count("of lanes", connection.talker->send(of_a_lane()));
    }
    if (connection.target->is_lead) {
      return count("to the lead", connection.talker->send(to_lead()));
    }
    return below(2) == 0 ? about_contributions(connection)
                         : count("to lanes", connection.talker->send(to_lane(*connection.target)));
  }

  bool about_contributions(Connection& connection) {
    auto& talker = *connection.talker;
    const auto& target = *connection.target;
    switch (below(16)) {
      case 0:
      case 1:
        return useless_push(connection);  // uncalled, it ends the connection
      case 2:
      case 3:
        return count("to lanes", talker.send(pull(target, 0)));  // is gone: so it hears which is open
      case 4:
      case 5:
      case 6:
        return count("to lanes", talker.send(pull(target, open_)));
      default:
        return count("offers", talker.send(offers(target)));
    }
  }

  Message of_a_lane() {
    const auto& entry = welcome_.addresses[below(welcome_.addresses.size())];
    if (below(2) == 0) {
      ShardHello hello{entry.lane,
                       welcome_.shards,
                       welcome_.lanes,
                       entry.incarnation,
                       {},
                       job_.spec_digest,
                       job_.layout_digest,
                       {},
                       entry.address,
                       welcome_.timeline + below(1000)};
      hello.database = {1 + below(100), 1 + below(100)};
      return hello;
    }
    LaneReport report;
    report.lane = entry.lane;
    report.incarnation = entry.incarnation;
    report.sequence = random_() >> 12U;
    report.timeline = welcome_.timeline;
    report.serving = true;
    report.open_step = below(job_.steps.steps);
    report.failure = below(4) == 0 ? "an invented failure" : "";
    return report;
  }

  // Of steps that are open or will be; now and then of one that is over, or of another timeline.
  Message offers(const Target& target) {
    const auto slots = job_.spec.training.slots;
    const std::array<SlotRange, 2> roots = {{{0, tree::split({0, slots})}, {0, slots}}};
    std::set<Work> works;
    for (auto left = target.chunks.empty() ? 0 : 1 + below(kMaxOffers); left > 0; --left) {
      const auto slot = static_cast<Slot>(below(slots));
      const auto step = below(16) == 0 ? below(over_) : open_ + below(kStepsOffered);
      const auto node = below(2) == 0 ? roots[below(roots.size())] : SlotRange{slot, slot + 1};
      works.insert({step, target.chunks[below(target.chunks.size())].id, node});
    }
    return Offers{welcome_.timeline + (below(16) == 0 ? 1 : 0), {works.begin(), works.end()}};
  }

  void hear(Connection& connection) {
    for (std::size_t i = 0; i < kHeard; ++i) {
      const auto message = connection.talker->next();
      if (!message) {
        return;
      }
      ++counts_["read"];
      if (const auto* const gone = std::get_if<Gone>(&*message)) {
        open_ = std::max(open_, gone->newest);
      } else if (const auto* const ahead = std::get_if<BytesAhead>(&*message)) {
        connection.ahead += ahead->bytes;
      } else if (const auto* const call = std::get_if<Call>(&*message)) {
        connection.last_called = call->number;
        ++counts_["calls"];
        answer(connection, *call);
      } else if (const auto* const asked = std::get_if<ReturnAsked>(&*message)) {
        give_back(connection, *asked);
      }
    }
  }

  // It never pays: values for open work would count.
  void answer(Connection& connection, const Call& call) {
    auto& talker = *connection.talker;
    const auto& chunks = connection.target->chunks;
    const auto chunk = std::ranges::find(chunks, call.work.chunk, &Chunk::id);
    if (chunk == chunks.end()) {
      return;
    }
    Push push{welcome_.timeline, call.work.step, call.work.chunk, call.work.node, false, kNoSlot, {}};
    push.call = call.number;
    auto bytes = chunk->bytes();
    switch (below(6)) {
      case 0:
        count("voids", talker.send(CallVoid{call.number}));
        return;
      case 1:
        count("voids", talker.send(CallVoid{call.number}) && talker.send(CallVoid{call.number}));
        return;
      case 2:
        push.timeline += 1;
        break;
      case 3:
        push.step = below(over_);
        break;
      case 4:
        bytes += sizeof(float);
        break;
      default:
        return;  // it owes
    }
    count("payments", talker.send(push, std::span(payload_).first(bytes)));
  }

  void give_back(Connection& connection, const ReturnAsked& asked) {
    const auto most = std::exchange(connection.ahead, 0);
    switch (below(4)) {
      case 0:
        return;
      case 1:
        count("returns", connection.talker->send(BytesReturned{asked.number, most + below(1 << 20)}));
        return;
      default:
        count("returns", connection.talker->send(BytesReturned{asked.number, below(2) == 0 ? most : below(most + 1)}));
    }
  }

  Message to_lane(const Target& target) {
    if (below(4) == 0) {
      return hello(target);
    }
    const std::array<Version, 4> versions = {kNewestVersion, below(over_), over_ + below(1000), job_.steps.steps};
    auto asked = pull(target, versions[below(versions.size())]);
    asked.timeline += below(2);
    asked.averages = below(4) == 0;
    return asked;
  }

  Pull pull(const Target& target, Version version) {
    Pull pull{welcome_.timeline, version, {}};
    for (const auto& chunk : target.chunks) {
      if (below(2) == 0) {
        pull.chunks.push_back(chunk.id);
      }
    }
    return pull;
  }

  // Of another timeline, of a step that is long over or that cannot be, of no node, or of a wrong size; uncalled, or
  // for a call that was answered or never was.
  bool useless_push(Connection& connection) {
    const auto& chunks = connection.target->chunks;
    if (chunks.empty()) {
      return false;
    }
    const auto& chunk = chunks[below(chunks.size())];
    const auto slots = job_.spec.training.slots;
    const auto slot = static_cast<Slot>(below(slots));
    Push push{welcome_.timeline, below(over_), chunk.id, {slot, slot + 1}, below(2) == 0, kNoSlot, {}};
    push.call = below(2) == 0 ? 0 : connection.last_called + below(2);
    auto bytes = chunk.bytes();
    switch (below(5)) {
      case 0:
        push.timeline += 1 + below(1000);
        break;
      case 1:
        push.step = job_.steps.steps + below(1000);
        break;
      case 2:
        push.step = over_ + below(1000);
        push.node = {1, 3};  // none of the tree
        break;
      case 3:
        push.step = over_ + below(1000);
        bytes = 4 + 4 * below(chunk.bytes() / 4 - 1);
        break;
      default:
        break;
    }
    return count("pushes", connection.talker->send(push, std::span(payload_).first(bytes)));
  }

  Message to_lead() {
    switch (below(8)) {
      case 0:
        return WorkerHello{"hostile " + std::to_string(below(100))};
      case 1:
        return Goodbye{"said at random"};
      case 2: {
        EvaluationResult result{welcome_.timeline, static_cast<Split>(below(2)), static_cast<std::uint32_t>(below(4)),
                                below(job_.steps.steps), 1e6};
        result.examples = below(1000);
        return result;
      }
      default:
        return heartbeat();
    }
  }

  // Of somebody who can compute, if it says so: who has nothing else to claim claims anything.
  Heartbeat heartbeat() {
    Heartbeat beat;
    beat.timeline = welcome_.timeline;
    beat.order = {static_cast<Generation>(below(3)), below(1000)};
    beat.step = over_ + below(1000);
    beat.ready = below(4) > 0;
    beat.idle = below(2) == 0;
    beat.waits_for = below(4) == 0 ? "a word of its own" : "";
    const bool knows = options_.claims.size() >= 2 && !options_.claims[0].empty() && below(4) > 0;
    beat.fingerprint = knows ? options_.claims[0] : "arithmetic " + std::to_string(below(50));
    beat.data_digest = knows ? options_.claims[1] : "data " + std::to_string(below(50));
    beat.slots = below(1000);
    beat.placement = below(3);
    beat.progress.step = below(2) == 0 ? beat.step : below(job_.steps.steps);
    beat.progress.slot_time = below(1 << 20);
    beat.progress.begun = below(1 << 20);
    beat.progress.up = below(1 << 30);
    beat.progress.leaving = below(16) == 0;
    if (below(2) == 0) {
      const auto end = static_cast<Slot>(1 + below(job_.spec.training.slots));
      beat.progress.computed = {{static_cast<Slot>(below(end)), end}};
    }
    return beat;
  }

  zmq::context_t& context_;
  const MixtureOptions& options_;
  ClientKeys keys_;
  const WorkerWelcome welcome_;
  const Job job_;
  const Step over_;  // steps before this one are done everywhere
  Step open_;        // as far as it has heard
  std::mt19937_64 random_;
  RandomMessages messages_;
  const std::vector<std::byte> payload_;
  std::vector<Target> targets_;
  std::vector<Connection> connections_;
  std::vector<std::pair<Clock::time_point, std::unique_ptr<Talker>>> unended_;
  std::map<std::string, std::uint64_t> counts_;
};

// As a worker learns what there is; and how far the job is.
struct Beginning {
  WorkerWelcome welcome;
  Step over = 0;
};

std::optional<Beginning> begin(zmq::context_t& context, const std::string& lead, SessionId session) {
  malformed::Probe probe(context, lead, session_routing_id(session));
  auto welcome = welcome_from(probe);
  if (!welcome) {
    return std::nullopt;
  }
  const auto job = make_job(parse_job(welcome->job, "the lead's job"));
  auto over = job.steps.steps;
  for (auto& victim : victims_of(context, job, *welcome, session)) {
    if (!greet(victim, job)) {
      return std::nullopt;
    }
    for (const auto& chunk : victim.chunks) {
      over = std::min(over, version_of(victim, chunk.id));
    }
  }
  probe.send(Goodbye{"has seen enough"});
  return Beginning{*welcome, over};
}

}  // namespace

void send_mixture(zmq::context_t& context, const std::string& lead, const MixtureOptions& options) {
  malformed::Probe::use_key(options.key);
  end_when_told();
  auto found = begin(context, lead, 1 + options.seed);
  if (!found) {
    throw std::runtime_error("it was not let in");
  }
  Mixture(context, lead, options, std::move(found->welcome), found->over).run();
}

void send_parts(zmq::context_t& context, const std::string& address, const std::filesystem::path& key, bool says_hello,
                double seconds) {
  constexpr std::size_t kParts = 4096;
  constexpr std::size_t kBytes = 1 << 20;
  ClientKeys keys(key);
  std::mt19937_64 random(std::random_device{}());
  Talker talker(context, address, session_routing_id(1 + (random() >> 1U)), &keys);
  if (says_hello) {
    talker.send(WorkerHello{"hostile"});
  }
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) {
    talker.send_parts(kParts, kBytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void send_by_twins(zmq::context_t& context, const std::string& address, const std::filesystem::path& key,
                   double seconds) {
  constexpr int kMessages = 96;  // a lane lets more wait; so much over one that stands is nobody's fault yet
  constexpr auto kUntilSent = std::chrono::milliseconds(700);
  const std::vector<std::byte> bytes(512U << 10U);
  ClientKeys keys(key);
  std::mt19937_64 random(std::random_device{}());
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) {
    const auto name = session_routing_id(1 + (random() >> 1U));
    Talker first(context, address, name, &keys);
    first.send(StatusRequest{});
    std::this_thread::sleep_for(kUntilSent);
    Talker twin(context, address, name, &keys);
    for (int i = 0; i < kMessages; ++i) {
      twin.send(bytes);
    }
    std::this_thread::sleep_for(kUntilSent);
  }
}

}  // namespace ballast::hostile
