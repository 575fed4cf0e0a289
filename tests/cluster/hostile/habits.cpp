// Sessions of one key that offer whole steps, do one thing when they are called, and never pay. What they hold, nobody
// else is called for: so each of these stops a lane that lets them go on with it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/net/descriptors.h"
#include "common/net/peer.h"
#include "protocol/tree.h"
#include "tests/cluster/hostile/ending.h"
#include "tests/cluster/hostile/hostile.h"
#include "tests/cluster/hostile/surroundings.h"

namespace ballast::hostile {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTurnEvery = std::chrono::milliseconds(1);
constexpr auto kAnswersFor = std::chrono::milliseconds(10);  // since the last call: there is no other on its way
constexpr std::uint64_t kNames = 700;                        // sessions as which they come: a lane has places for 1,024
constexpr std::size_t kMostKept = 200;                       // connections that are left as they are
constexpr std::size_t kTalkers = 3;       // of those that talk without end, so many do; the others owe meanwhile
constexpr std::size_t kWordsAtOnce = 50;  // of each of them in a turn
constexpr std::uint64_t kNobodysCall = 1'000'000'000'000;

class Stranger;

struct StrangersHabit {
  std::string_view name;
  // What they say to each call; null: nothing. And what they do then: at once, or when they have answered all.
  void (*answer)(Stranger& stranger, const Call& call);
  void (*then)(Stranger& stranger);
  enum class Offering : std::uint8_t { steps, no_items, nothing } offering = Offering::steps;
  bool pulls_unread = false;  // a chunk of each version, and reads nothing
  bool talks = false;         // kTalkers of them, without end
};

// What all of them know.
struct Strangers {
  const Surroundings& around;
  const StrangersHabit& habit;
  ClientKeys keys;
  Step open = 0;
  std::mt19937_64 random;
  std::uint64_t arrivals = 0;
  std::deque<std::unique_ptr<Talker>> kept;
  std::map<std::string_view, std::uint64_t> counts;
};

// One of them, at one lane.
class Stranger {
 public:
  Stranger(Strangers& all, std::size_t number)
      : all_(all), number_(number), lane_(all.around.lanes[number % all.around.lanes.size()]) {
    come_as_another();
  }

  void act() {
    if (all_.habit.talks && number_ < kTalkers) {
      talk();
    }
    if (all_.open + 1 != next_offer_) {
      next_offer_ = all_.open + 1;
      all_.habit.pulls_unread ? pull() : offer();
    }
    while (!all_.habit.pulls_unread) {
      const auto message = talker_->next();
      if (!message) {
        break;
      }
      hear(*message);
    }
    if (was_called_at_ && Clock::now() > *was_called_at_ + kAnswersFor) {
      was_called_at_.reset();
      all_.habit.then(*this);
    }
  }

  // ---- what they do when they are called
  void come_again() { connect(); }
  // Under a number of which the lane thinks no worse than of any, and lower than those of honest sessions.
  void come_as_another() {
    session_ = 1 + all_.arrivals++ % kNames;
    connect();
  }
  // Its connection stands, and nobody reads or writes there. Whoever answers owes nothing, and is called no more.
  void leave_connection() {
    if (all_.habit.answer != nullptr) {
      talker_->send(Offers{all_.around.timeline, {}});
    }
    all_.kept.push_back(std::move(talker_));
    if (all_.kept.size() > kMostKept) {
      all_.kept.pop_front();
    }
  }
  void say_hello(bool takes_calls) {
    const auto& job = all_.around.job;
    talker_->send(LaneHello{"stranger", job.spec_digest, job.layout_digest, takes_calls});
  }
  void say_it_has_none(const Call& call) { talker_->send(CallVoid{call.number}); }
  void push(const Call& call, Timeline timeline, std::uint64_t bytes) {
    static const std::vector<std::byte> zeros(1 << 20);
    Push push{timeline, call.work.step, call.work.chunk, call.work.node, false, kNoSlot, {}};
    push.call = call.number;
    talker_->send(push, std::span(zeros).first(bytes));
  }
  [[nodiscard]] Timeline timeline() const { return all_.around.timeline; }
  [[nodiscard]] std::uint64_t bytes_of(const Call& call) const {
    return std::ranges::find(lane_.chunks, call.work.chunk, &Chunk::id)->bytes();
  }
  [[nodiscard]] std::uint64_t largest() const { return std::ranges::max(lane_.chunks, {}, &Chunk::elements).bytes(); }

 private:
  void connect() {
    // The number of a connection that was never used before.
    const auto id =
        routing_id_of(session_routing_id(session_), static_cast<std::uint32_t>(1 + all_.counts["connections"]),
                      1 + (all_.random() >> 1U));
    ++all_.counts["connections"];
    constexpr int kAllWait = 1000;
    talker_ = std::make_unique<Talker>(all_.around.context, lane_.address, id, &all_.keys,
                                       all_.habit.pulls_unread ? 1 : kAllWait);
    ahead_ = 0;
    next_offer_ = 0;
    say_hello(true);
    // Who computes has bytes given ahead, of which there is the less for each the more they are.
    talker_->send(Pull{all_.around.timeline, all_.open, {std::ranges::min(lane_.chunks, {}, &Chunk::elements).id}});
  }

  void hear(const Message& message) {
    if (const auto* const call = std::get_if<Call>(&message)) {
      ++all_.counts["calls"];
      if (all_.habit.answer != nullptr) {
        all_.habit.answer(*this, *call);
        was_called_at_ = Clock::now();
      } else {
        all_.habit.then(*this);
      }
    } else if (const auto* const ahead = std::get_if<BytesAhead>(&message)) {
      ahead_ += ahead->bytes;
    } else if (const auto* const asked = std::get_if<ReturnAsked>(&message)) {
      talker_->send(BytesReturned{asked->number, std::exchange(ahead_, 0)});
    } else if (const auto* const refused = std::get_if<Refused>(&message)) {
      ++all_.counts["refused"];
      if (refused->code == RefusalCode::unknown_session) {
        say_hello(true);
        next_offer_ = 0;
      }
    }
  }

  void offer() {
    Offers offers{all_.around.timeline, {}};
    switch (all_.habit.offering) {
      case StrangersHabit::Offering::steps:
        offers.works = steps();
        break;
      case StrangersHabit::Offering::no_items:
        offers.works = no_items();
        break;
      case StrangersHabit::Offering::nothing:
        return;
    }
    all_.counts["offers"] += talker_->send(offers) ? 1 : 0;
  }

  // The root of each chunk, and what comes before it in order; where slots are items, each of these.
  [[nodiscard]] std::vector<Work> steps() const {
    const auto& training = all_.around.job.spec.training;
    std::vector<Node> nodes = {{0, tree::split({0, training.slots})}, {0, training.slots}};
    if (is_item_mode(training.mode)) {
      nodes.clear();
      for (Slot slot = 0; slot < training.slots; ++slot) {
        nodes.push_back({slot, slot + 1});
      }
    }
    std::set<Work> works;
    for (Step step = all_.open; works.size() < kMaxOffers; ++step) {
      for (const auto& chunk : lane_.chunks) {
        for (const auto& node : nodes) {
          works.insert({step, chunk.id, node});
        }
      }
    }
    return {works.begin(), std::next(works.begin(), kMaxOffers)};
  }

  // Of the first steps, so that they come before all others in order; of each of them something else.
  [[nodiscard]] std::vector<Work> no_items() const {
    std::set<Work> works;
    for (std::size_t i = number_ * kMaxOffers; works.size() < kMaxOffers; ++i) {
      works.insert({i / lane_.chunks.size(), lane_.chunks[i % lane_.chunks.size()].id, {0, 2}});
    }
    return {works.begin(), works.end()};
  }

  // Any chunk: so they come to stand at different ones, of different versions.
  void pull() {
    const Pull pull{all_.around.timeline, all_.open, {lane_.chunks[all_.random() % lane_.chunks.size()].id}};
    all_.counts["pulls"] += talker_->send(pull) ? 1 : 0;
  }

  void talk() {
    for (std::size_t i = 0; i < kWordsAtOnce && talker_->send(CallVoid{kNobodysCall}); ++i) {
      ++all_.counts["words"];
    }
  }

  Strangers& all_;
  const std::size_t number_;
  const LaneOf& lane_;
  SessionId session_ = 0;
  std::unique_ptr<Talker> talker_;
  std::uint64_t ahead_ = 0;
  Step next_offer_ = 0;
  std::optional<Clock::time_point> was_called_at_;
};

// What it has sent goes on its way, and what it owes is owed.
void keep_and_come_as_another(Stranger& stranger) {
  stranger.leave_connection();
  stranger.come_as_another();
}

void keep_and_come_again(Stranger& stranger) {
  stranger.leave_connection();
  stranger.come_again();
}

void close_and_come_as_another(Stranger& stranger) { stranger.come_as_another(); }

void pay_in_another_timeline(Stranger& stranger, const Call& call) {
  stranger.push(call, stranger.timeline() + 1, stranger.bytes_of(call));
}

void pay_in_another_size(Stranger& stranger, const Call& call) {
  stranger.push(call, stranger.timeline(), stranger.bytes_of(call) + sizeof(float));
}

void say_it_has_none(Stranger& stranger, const Call& call) { stranger.say_it_has_none(call); }

void take_no_calls(Stranger& stranger, const Call& /*call*/) { stranger.say_hello(false); }

const StrangersHabit& habit_of(std::string_view name) {
  using Offering = StrangersHabit::Offering;
  static const std::array<StrangersHabit, 10> kStrangersHabits = {{
      {"stop-reading", nullptr, keep_and_come_as_another},
      {"connect-again-and-keep", nullptr, keep_and_come_again},
      {"close", nullptr, close_and_come_as_another},
      {"pay-in-another-timeline", pay_in_another_timeline, keep_and_come_as_another},
      {"pay-in-another-size", pay_in_another_size, keep_and_come_as_another},
      {"have-none", say_it_has_none, keep_and_come_as_another},
      {"take-no-calls", take_no_calls, keep_and_come_as_another},
      {"offer-no-items", nullptr, keep_and_come_as_another, Offering::no_items},
      {"read-no-weights", nullptr, keep_and_come_as_another, Offering::nothing, true},
      {"talk-without-end", nullptr, keep_and_come_as_another, Offering::steps, false, true},
  }};
  const auto* const found = std::ranges::find(kStrangersHabits, name, &StrangersHabit::name);
  if (found == kStrangersHabits.end()) {
    throw std::runtime_error("no habit is called " + std::string(name));
  }
  return *found;
}

void tell_counts(const std::map<std::string_view, std::uint64_t>& counts) {
  const char* before = "{";
  for (const auto& [what, count] : counts) {
    std::printf("%s\"%s\": %llu", before, std::string(what).c_str(), static_cast<unsigned long long>(count));
    before = ", ";
  }
  std::printf("}\n");
}

}  // namespace

void keep_to_habit(zmq::context_t& context, const std::string& lead, const HabitOptions& options) {
  raise_descriptor_limit();
  end_when_told();
  const auto& habit = habit_of(options.habit);
  const auto around = look_around(context, lead, options.key);
  std::random_device chance;
  Strangers all{around, habit, ClientKeys(options.key), 0, std::mt19937_64(chance()), 0, {}, {}};
  Watcher watcher(around, options.key);
  const auto slots = is_item_mode(around.job.spec.training.mode) ? around.job.spec.training.slots : 1;
  const auto until = Clock::now() + std::chrono::duration<double>(options.seconds);
  std::vector<std::unique_ptr<Stranger>> strangers;
  while (Clock::now() < until && !is_told_to_end()) {
    watcher.look();
    all.open = watcher.newest() / slots;
    if (strangers.size() < options.sessions && watcher.newest() > 0) {
      strangers.push_back(std::make_unique<Stranger>(all, strangers.size()));
    }
    for (auto& stranger : strangers) {
      stranger->act();
    }
    std::this_thread::sleep_for(kTurnEvery);
  }
  tell_counts(all.counts);
}

}  // namespace ballast::hostile
