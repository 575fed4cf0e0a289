// Many sessions that offer contributions and owe what they are called for: none of them ever pays.
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "common/net/descriptors.h"
#include "common/net/peer.h"
#include "tests/cluster/hostile/ending.h"
#include "tests/cluster/hostile/hostile.h"
#include "tests/cluster/hostile/surroundings.h"
#include "tests/cluster/hostile/talker.h"

namespace ballast::hostile {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kOfferEvery = std::chrono::seconds(1);
constexpr auto kReadsSlowly = std::chrono::milliseconds(200);  // a message
constexpr auto kStaysAway = std::chrono::seconds(1);
constexpr auto kLooksEvery = std::chrono::milliseconds(100);
constexpr Step kAhead = 2;  // steps beyond the open one of which it offers

// What it does once it is called or has room.
enum class Habit : std::uint8_t { stops_reading, reads_slowly, vanishes };
constexpr std::size_t kHabits = 3;

struct Counts {
  std::uint64_t sessions = 0;
  std::uint64_t offers = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes_ahead = 0;
  std::uint64_t receipts = 0;
  std::uint64_t vanished = 0;
};

// What all of them know.
struct Common {
  const Surroundings& around;
  Step open = 0;
  std::mt19937_64 random;
  Counts counts;
};

class Debtor {
 public:
  Debtor(Common& common, const std::filesystem::path& key, Habit habit)
      : common_(common), keys_(key), habit_(habit), talkers_(common.around.lanes.size()) {}

  void act(Clock::time_point now) {
    if (now < away_until_) {
      return;
    }
    if (!is_there_) {
      arrive(now);
    }
    for (std::size_t lane = 0; lane < talkers_.size(); ++lane) {
      read(lane, now);
    }
    if (now >= offers_at_) {
      offers_at_ = now + kOfferEvery;
      offer();
    }
    if (habit_ == Habit::vanishes && owes_) {
      leave(now);
    }
  }

 private:
  void arrive(Clock::time_point now) {
    is_there_ = true;
    owes_ = false;
    offers_at_ = now;
    ++common_.counts.sessions;
    const SessionId session = 1 + (common_.random() >> 1U);
    for (std::size_t lane = 0; lane < talkers_.size(); ++lane) {
      const auto& around = common_.around;
      const auto& place = around.lanes[lane];
      talkers_[lane] = std::make_unique<Talker>(around.context, place.address, session_routing_id(session), &keys_);
      talkers_[lane]->send(LaneHello{"debtor", around.job.spec_digest, around.job.layout_digest, true});
      talkers_[lane]->send(Pull{around.timeline, common_.open, {place.chunks.front().id}});
    }
  }

  void leave(Clock::time_point now) {
    is_there_ = false;
    away_until_ = now + kStaysAway;
    ++common_.counts.vanished;
    for (auto& talker : talkers_) {
      talker.reset();
    }
  }

  void read(std::size_t lane, Clock::time_point now) {
    if ((habit_ == Habit::stops_reading && owes_) || (habit_ == Habit::reads_slowly && now < reads_at_)) {
      return;
    }
    reads_at_ = now + kReadsSlowly;
    while (auto message = talkers_[lane]->next()) {
      const bool is_called = std::holds_alternative<Call>(*message);
      common_.counts.calls += is_called ? 1 : 0;
      common_.counts.receipts += std::holds_alternative<Receipt>(*message) ? 1 : 0;
      const auto* const ahead = std::get_if<BytesAhead>(&*message);
      common_.counts.bytes_ahead += ahead == nullptr ? 0 : ahead->bytes;
      owes_ = owes_ || is_called || ahead != nullptr;
      if (habit_ == Habit::reads_slowly) {
        return;
      }
    }
  }

  // The lowest steps' work is called first: it offers some of every node, that of the whole step included.
  void offer() {
    const auto slots = common_.around.job.spec.training.slots;
    for (std::size_t lane = 0; lane < talkers_.size(); ++lane) {
      Offers offers{common_.around.timeline, {}};
      for (Step step = common_.open; step < common_.open + kAhead; ++step) {
        for (const auto& chunk : common_.around.lanes[lane].chunks) {
          const auto slot = static_cast<Slot>(common_.random() % slots);
          if (offers.works.size() < kMaxOffers) {
            offers.works.push_back({step, chunk.id, {slot, slot + 1}});
          }
        }
      }
      common_.counts.offers += talkers_[lane]->send(offers) ? 1 : 0;
    }
  }

  Common& common_;
  ClientKeys keys_;
  const Habit habit_;
  std::vector<std::unique_ptr<Talker>> talkers_;  // by lane
  bool is_there_ = false;
  bool owes_ = false;
  Clock::time_point away_until_ = {};
  Clock::time_point offers_at_ = {};
  Clock::time_point reads_at_ = {};
};

}  // namespace

void owe(zmq::context_t& context, const std::string& lead, std::size_t count, double seconds,
         const std::vector<std::string>& keys) {
  raise_descriptor_limit();
  end_when_told();
  const auto around = look_around(context, lead, keys.front());
  std::random_device chance;
  Common common{around, 0, std::mt19937_64(chance()), {}};
  Watcher watcher(around, keys.front());
  std::vector<std::unique_ptr<Debtor>> debtors;
  for (std::size_t i = 0; i < count; ++i) {
    debtors.push_back(std::make_unique<Debtor>(common, keys[i % keys.size()], static_cast<Habit>(i % kHabits)));
  }
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until && !is_told_to_end()) {
    watcher.look();
    common.open = watcher.newest();
    for (auto& debtor : debtors) {
      debtor->act(Clock::now());
    }
    std::this_thread::sleep_for(kLooksEvery);
  }
  const auto& counts = common.counts;
  const std::array<std::pair<const char*, std::uint64_t>, 6> told = {{{"sessions", counts.sessions},
                                                                      {"offers", counts.offers},
                                                                      {"calls", counts.calls},
                                                                      {"bytes_ahead", counts.bytes_ahead},
                                                                      {"receipts", counts.receipts},
                                                                      {"vanished", counts.vanished}}};
  for (std::size_t i = 0; i < told.size(); ++i) {
    std::printf("%s\"%s\": %llu", i == 0 ? "{" : ", ", told[i].first, static_cast<unsigned long long>(told[i].second));
  }
  std::printf("}\n");
}

}  // namespace ballast::hostile
