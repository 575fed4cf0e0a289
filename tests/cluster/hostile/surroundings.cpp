#include "tests/cluster/hostile/surroundings.h"

#include <random>
#include <stdexcept>
#include <utility>

#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/net/peer.h"
#include "tests/cluster/hostile/greeting.h"

namespace ballast::hostile {

namespace {

constexpr auto kAsksAgain = std::chrono::seconds(1);  // its connection may have been cut with the others

SessionId new_session() {
  std::random_device chance;
  std::mt19937_64 random(chance());
  return 1 + (random() >> 1U);
}

std::vector<LaneOf> lanes_of(const Job& job, const WorkerWelcome& welcome) {
  const Placement placement(job.arena, welcome.shards, welcome.lanes);
  std::vector<LaneOf> lanes;
  for (const auto& entry : welcome.addresses) {
    auto& lane = lanes.emplace_back(LaneOf{entry.address, {}});
    for (const auto& chunk : job.arena.chunks) {
      if (LaneId{placement[chunk.id].shard, placement[chunk.id].lane} == entry.lane) {
        lane.chunks.push_back(chunk);
      }
    }
  }
  return lanes;
}

}  // namespace

Surroundings look_around(zmq::context_t& context, const std::string& lead, const std::filesystem::path& key) {
  malformed::Probe::use_key(key);
  malformed::Probe probe(context, lead, session_routing_id(new_session()));
  const auto welcome = welcome_from(probe);
  if (!welcome) {
    throw std::runtime_error("the lead does not let it in");
  }
  probe.send(Goodbye{"has seen enough"});
  auto job = make_job(parse_job(welcome->job, "the lead's job"));
  auto lanes = lanes_of(job, *welcome);
  return {context, std::move(job), welcome->timeline, std::move(lanes)};
}

Watcher::Watcher(const Surroundings& around, const std::filesystem::path& key)
    : around_(around),
      keys_(key),
      talker_(around.context, around.lanes.front().address, session_routing_id(new_session()), &keys_) {
  say_hello();
}

void Watcher::say_hello() {
  talker_.send(LaneHello{"watcher", around_.job.spec_digest, around_.job.layout_digest, true});
}

void Watcher::look() {
  const auto now = Clock::now();
  while (const auto message = talker_.next()) {
    if (const auto* const gone = std::get_if<Gone>(&*message)) {
      newest_ = gone->newest;
      asks_again_at_ = now;
    } else if (const auto* const weights = std::get_if<Weights>(&*message)) {
      newest_ = weights->version;
      asks_again_at_ = now;
    } else if (const auto* const ahead = std::get_if<BytesAhead>(&*message)) {
      ahead_ += ahead->bytes;
    } else if (const auto* const asked = std::get_if<ReturnAsked>(&*message)) {
      talker_.send(BytesReturned{asked->number, std::exchange(ahead_, 0)});
    } else if (std::holds_alternative<Refused>(*message)) {
      say_hello();
    }
  }
  if (now >= asks_again_at_) {
    talker_.send(Pull{around_.timeline, newest_ + 1, {around_.lanes.front().chunks.front().id}});
    asks_again_at_ = now + kAsksAgain;
  }
}

}  // namespace ballast::hostile
