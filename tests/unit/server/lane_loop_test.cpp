#include "server/lane_loop.h"

#include <doctest/doctest.h>

#include "common/job/load.h"
#include "common/net/peer.h"
#include "storage/store/store.h"
#include "tests/unit/common/net/net_test.h"

namespace ballast {
namespace {

// Small buffers of the system: nearly all that has been sent has then been received.
Job small_buffers() {
  return make_job(parse_job(R"(
job: turns
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {slots: 4, batch: 16, max_steps: 9}
cluster: {socket_buffer_bytes: 65536}
)",
                            "test"));
}

LaneConfig config_of(const Job& job) {
  LaneConfig config;
  for (const auto& chunk : job.arena.chunks) {
    config.chunks.push_back({chunk.id, chunk.bytes(), chunk.group == Group::statistics});
  }
  config.slots = job.spec.training.slots;
  config.steps = job.steps.steps;
  return config;
}

TEST_CASE("a lane ends its turn after so many bytes, whatever more has come") {
  constexpr std::size_t kPushes = 32;  // less than the messages of a turn
  constexpr std::size_t kBytes = 1U << 20U;
  static_assert(kPushes * kBytes > 2 * Turn::kBytes);
  const auto job = small_buffers();
  Addresses addresses;
  ReleaseQueue releases;
  Metrics metrics;
  DiskRoom room{nullptr};
  ShardStore store{std::make_unique<MemoryStore>("shard-0")};
  zmq::context_t context = make_context();
  Router lead(context);
  auto storage = std::make_unique<ShardStorage>(store, nullptr, room, 1, 1);
  const LaneLoop::Addresses at{addresses.make("tcp"), "", lead.bind(addresses.make("ipc"))};
  LaneLoop lane(context, ServerKeys(), job, config_of(job), at,
                {*storage, nullptr, nullptr, nullptr, false, [] { return std::string(); }}, &metrics);

  // All of them wait at the lane before its first turn, and so does what ends it: a turn looks for that last.
  Dealer worker(context, session_routing_id(7), {.buffer_bytes = 65536});
  worker.connect(lane.address());
  const std::vector<std::byte> gradient(kBytes);
  Encoder encoder;
  Push push;
  push.timeline = 1;
  push.node = {0, 1};
  for (std::size_t i = 0; i < kPushes; ++i) {
    REQUIRE(worker.send("", encoder.encode(push), {gradient.data(), kBytes, {7, i, nullptr, kBytes}, &releases}));
  }
  wait_for_releases(releases, kPushes);
  lane.interrupt("enough");
  CHECK(lane.run() == "enough");

  const auto taken = metrics.counter("ballast_shard_bytes_total", {"0", "in"})->value();
  CHECK(taken >= kBytes);
  CHECK(taken <= Turn::kBytes);
  worker.close();
  lane.close();
  lead.close();
  storage.reset();
  context.close();
}

}  // namespace
}  // namespace ballast
