#include "cli/before/resources.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/before/plan.h"
#include "common/arena/pieces.h"
#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/job/memory_budget.h"
#include "common/job/shard_bytes.h"
#include "protocol/lane/lane.h"
#include "server/weights.h"
#include "tests/unit/cli/captured.h"
#include "worker/training/gradient_sums.h"

namespace ballast {
namespace {

// 1,000,000 floats in one tensor: 4 MB in 4 chunks.
const std::string kMillion =
    "job: million\n"
    "model: {name: emulated, parameters: [{name: w, shape: [1000, 1000]}]}\n"
    "data: {name: none}\n"
    "training: {batch: 64, slots: 8, max_steps: 5, optimizer: {name: adam, learning_rate: 0.1}}\n";

Job job_of(const std::vector<std::string>& overrides = {}, const std::string& text = kMillion) {
  return make_job(parse_job(text, "test", overrides));
}

const Resource& part(const std::vector<Resource>& resources, const std::string& what) {
  const auto found = std::ranges::find(resources, what, &Resource::what);
  REQUIRE_MESSAGE(found != resources.end(), what);
  return *found;
}

TEST_CASE("what one worker and one shard move: the arena once each way") {
  const auto job = job_of();
  const auto resources = resources_of(job);
  const auto arena = job.arena.elements * sizeof(float);
  REQUIRE((resources.shards.size() == 1 && resources.workers.size() == 1));
  CHECK(resources.shards[0].in_per_step == arena);
  CHECK(resources.shards[0].out_per_step == arena);
  CHECK(resources.workers[0].nodes == 1);
  CHECK(resources.workers[0].slots == 8);
}

// 7,000,031,232 floats: offsets beyond 32 bits, in floats and of one parameter's elements.
Job seven_billion() {
  return job_of(
      {},
      "job: large\n"
      "model: {name: emulated, parameters: [{name: first, shape: [65536, 106811]}, {name: bias, shape: [31744]},"
      " {name: second, shape: [33792]}]}\n"
      "data: {name: none}\n"
      "training: {batch: 64, slots: 8, max_steps: 5, optimizer: {name: adam, learning_rate: 0.1}}\n"
      "cluster: {shards: 8, lanes: 2, workers: 4}\n");
}

TEST_CASE("a model of seven billion floats is cut without gaps, each piece of it known by its place") {
  const auto job = seven_billion();
  CHECK(job.arena.elements == 65536ULL * 106811 + 31744 + 33792 + kStatisticsFloats);
  std::uint64_t end = 0;
  std::uint64_t first_elements = 0;
  auto chunks = job.arena.chunks;
  std::ranges::sort(chunks, {}, &Chunk::offset);
  for (const auto& chunk : chunks) {
    REQUIRE(chunk.offset == end);
    REQUIRE((chunk.elements > 0 && chunk.bytes() <= kMaxChunkBytes));
    end += chunk.elements;
    for (const auto& piece : pieces_of(job.arena, chunk)) {
      REQUIRE(job.arena.extents[piece.parameter].offset + piece.first == chunk.offset + piece.offset);
      if (piece.parameter == 0) {
        REQUIRE(piece.first == first_elements);
        first_elements += piece.elements;
      }
    }
  }
  CHECK(end == job.arena.elements);
  CHECK(first_elements == 65536ULL * 106811);
}

TEST_CASE("a model of seven billion floats is placed evenly on eight shards, and its plan adds up") {
  const auto job = seven_billion();
  const auto resources = resources_of(job);
  const auto arena = job.arena.elements * sizeof(float);
  REQUIRE(resources.shards.size() == 8);
  std::uint64_t in = 0;
  std::size_t chunks = 0;
  std::uint64_t state = 0;
  for (const auto& shard : resources.shards) {
    CHECK(shard.in_per_step / resources.workers.size() > arena / 8 - kMaxChunkBytes);
    CHECK(shard.in_per_step / resources.workers.size() < arena / 8 + kMaxChunkBytes);
    CHECK(part(shard.memory, "weights, two versions").usual > 2 * (arena / 8 - kMaxChunkBytes));
    state += part(shard.memory, "optimizer state").usual;
    in += shard.in_per_step;
    chunks += shard.chunks;
  }
  CHECK(in == resources.workers.size() * arena);
  CHECK(chunks == job.arena.chunks.size());
  const auto model = arena - kStatisticsFloats * sizeof(float);
  CHECK(state == 2 * model);
  CHECK(resources.snapshot == 3 * model);
}

TEST_CASE("several workers push the sums that their slots make, and each pulls the whole model") {
  // 8 slots for 3 workers: [0, 2), [2, 5), [5, 8), that is 1, 2 and 2 sums.
  const auto job = job_of({"cluster.workers=3", "cluster.shards=2"});
  const auto resources = resources_of(job);
  const auto arena = job.arena.elements * sizeof(float);
  REQUIRE(resources.workers.size() == 3);
  CHECK(resources.workers[0].nodes == 1);
  CHECK(resources.workers[1].nodes == 2);
  CHECK(resources.workers[2].nodes == 2);
  CHECK(resources.workers[1].out_per_step == 2 * arena);
  CHECK(resources.shards[0].in_per_step + resources.shards[1].in_per_step == 5 * arena);
  CHECK(resources.shards[0].out_per_step + resources.shards[1].out_per_step == 3 * arena);
}

TEST_CASE("a worker without slots moves nothing") {
  const auto job = job_of({"cluster.workers=9"});
  const auto arena_bytes = job.arena.elements * sizeof(float);
  const auto resources = resources_of(job);
  const auto idle = std::ranges::count_if(resources.workers, [](const auto& worker) { return worker.slots == 0; });
  CHECK(idle == 1);
  CHECK(resources.shards[0].out_per_step == 8 * arena_bytes);
  CHECK(resources.shards[0].in_per_step == 8 * arena_bytes);
}

TEST_CASE("where each slot is an update of its own, each brings a gradient and takes the weights") {
  const auto job = job_of({"training.mode=async", "cluster.workers=3", "cluster.shards=2"});
  const auto resources = resources_of(job);
  const auto arena = job.arena.elements * sizeof(float);
  CHECK(resources.shards[0].in_per_step + resources.shards[1].in_per_step == 8 * arena);
  CHECK(resources.shards[0].out_per_step + resources.shards[1].out_per_step == 8 * arena);
  REQUIRE(resources.workers.size() == 3);
  CHECK(resources.workers[2].slots == doctest::Approx(8.0 / 3));
  CHECK(resources.workers[2].out_per_step == 8 * arena / 3);
  CHECK(resources.workers[2].in_per_step == 8 * arena / 3);
  // More workers than slots find work as well: of several steps at once.
  CHECK(resources_of(job_of({"training.mode=async", "cluster.workers=16"})).workers[15].out_per_step == arena / 2);
  for (const auto& resource : resources.shards[0].memory) {
    CHECK(resource.usual <= resource.most);
  }
}

TEST_CASE("a shard's weights and state are what its lanes allocate") {
  const std::string adam = "name: adam";
  for (const std::string optimizer : {"name: sgd", "name: sgd, momentum: 0.9", "name: adam", "name: adam, averaged"}) {
    CAPTURE(optimizer);
    const bool averaged = optimizer.ends_with(", averaged");
    auto text = kMillion;
    text.replace(text.find(adam), adam.size(), averaged ? adam : optimizer);
    const auto job = averaged ? job_of({"cluster.shards=2", "training.weight_average.decay=0.9"}, text)
                              : job_of({"cluster.shards=2"}, text);
    const auto resources = resources_of(job);
    const Placement placement(job.arena, 2, 1);
    for (std::uint32_t shard = 0; shard < 2; ++shard) {
      std::vector<ChunkId> chunks;
      std::ranges::transform(placement.of_shard(shard), std::back_inserter(chunks), &Chunk::id);
      CHECK(resources.shards[shard].chunks == chunks.size());
      LaneWeights weights(job, chunks);
      weights.initialize();
      for (const auto chunk : chunks) {
        const std::vector<float> root(job.arena.chunks[chunk].elements);
        StepFactors factors;
        factors.learning_rate = 0.1F;
        factors.step_size = 0.1F;
        weights.apply(chunk, 0, root, factors);
      }
      const auto& memory = resources.shards[shard].memory;
      const auto& state = part(memory, averaged ? "optimizer state and average" : "optimizer state");
      CHECK(weights.bytes() == part(memory, "weights, two versions").usual + state.usual);
    }
  }
}

TEST_CASE("a shard's memory is its budget, and contributions have what nothing else takes") {
  const auto arena = job_of().arena.elements * sizeof(float);
  const std::string contributions = "contributions, held or on their way";
  const auto memory_of = [](const Job& job, std::uint64_t machine = 0) {
    return resources_of(job, machine).shards[0].memory;
  };
  const auto job = job_of({"cluster.workers=3", "cluster.lanes=2"});
  const auto budget = memory_of_shards(job).at(0);
  CHECK(total(memory_of(job)).most == budget.wanted());
  CHECK(part(memory_of(job), contributions).usual == 4 * arena);  // 5 sums, of which the round holds 4 at most
  CHECK(part(memory_of(job), contributions).most == budget.wanted() - budget.taken_bytes());
  CHECK(total(memory_of(job, 2 * budget.least() + 2)).most == budget.least() + 1);
  CHECK(total(memory_of(job, 2)).most == budget.least());  // with less it would not start
  const auto given = job_of({"cluster.memory_mib=1000", "cluster.workers=3", "cluster.lanes=2"});
  CHECK(total(memory_of(given, 2)).most == 1000U << 20U);
  CHECK(part(resources_of(job).workers[0].memory, "gradients").most == gradient_arenas(8) * arena);
  for (const auto& resource : memory_of(job)) {
    CAPTURE(resource.what);
    CHECK(resource.usual <= resource.most);
  }
}

TEST_CASE("the kernel's buffers grow with connections, and are as large as they are told to be") {
  const auto kernel = [](const std::vector<std::string>& overrides) {
    return resources_of(job_of(overrides)).shards[0].kernel;
  };
  const auto one = kernel({});
  CHECK(one.most == 2 * (10U << 20U));
  CHECK(kernel({"cluster.workers=3", "cluster.lanes=2"}).most == 6 * one.most);
  CHECK(kernel({"cluster.workers=3", "cluster.lanes=2"}).usual == 6 * one.usual);
  CHECK(kernel({"cluster.socket_buffer_bytes=100000"}).usual == 400'000);
  CHECK(kernel({"cluster.socket_buffer_bytes=100000"}).most == 800'000);
}

TEST_CASE("a worker's local steps take a gradient, two copies of the weights and the inner optimizer's state") {
  const auto job = job_of({"training.mode=local", "training.local.steps=2", "training.local.optimizer.name=adamw"});
  CHECK(part(resources_of(job).workers[0].memory, "local steps").most == 5 * job.arena.elements * sizeof(float));
}

TEST_CASE("disk: snapshots of weights and state, as many as are kept, and the one being written") {
  const auto job = job_of({"durability.keep=3"});
  const auto resources = resources_of(job);
  const auto snapshot = 3 * (job.arena.elements - kStatisticsFloats) * sizeof(float);  // Adam: weights and two states
  CHECK(resources.snapshot == snapshot);
  CHECK(resources_of(job_of({"training.weight_average.decay=0.9"})).snapshot == snapshot / 3 * 4);
  CHECK(part(resources.shards[0].disk, "snapshots kept").most == 3 * snapshot);
  CHECK(resources.copies == 0);
  const auto copied = resources_of(job_of({"durability.copy_to=/somewhere"}));
  CHECK(copied.copies == 3 * snapshot);
  // The one that is being copied, and the newest that is, beside those that are kept anyway.
  CHECK(part(copied.shards[0].disk, "snapshots kept").usual == (2 + 2) * snapshot);
  CHECK(part(resources_of(job_of({"durability.mode=final"})).shards[0].disk, "snapshots kept").most == 0);
}

TEST_CASE("disk: the journal holds each slot's update between two snapshots") {
  const auto job = job_of({"training.mode=async", "durability.every_steps=3"});
  const auto update = job.arena.elements * sizeof(float);
  const auto journal = part(resources_of(job).shards[0].disk, "the journal");
  CHECK(journal.usual == 3 * job.spec.training.slots * update);
  CHECK(journal.most == 2 * journal.usual);
  CHECK(part(resources_of(job).shards[0].disk, "snapshots kept").most > 0);
  const auto rounds = resources_of(job_of()).shards[0].disk;
  CHECK(std::ranges::none_of(rounds, [](const auto& resource) { return resource.what == "the journal"; }));
}

TEST_CASE("what does not fit is said") {
  const auto resources = resources_of(job_of());
  const auto memory = total_memory(resources);
  const auto disk = total_disk(resources);
  CHECK((judge(resources, {memory.most, disk.most}).lacking.empty() &&
         judge(resources, {memory.most, disk.most}).warnings.empty()));
  const auto tight = judge(resources, {memory.usual, disk.usual});
  CHECK(tight.lacking.empty());
  CHECK(tight.warnings.size() == 2);
  const auto small = judge(resources, {memory.usual - 1, disk.usual - 1});
  REQUIRE(small.lacking.size() == 2);
  CHECK(small.lacking[0].find("of memory") != std::string::npos);
  CHECK(small.lacking[1].find("of disk") != std::string::npos);
  CHECK(judge(resources, {0, disk.most}).warnings.size() == 1);
}

TEST_CASE("this machine has memory and disk, also for a folder that is yet to be made") {
  const TemporaryFolder folder;
  const auto room = room_here((folder.path() / "runs" / "next").string());
  CHECK(room.memory > 0);
  CHECK(room.disk > 0);
}

TEST_CASE("the command prints tables or JSON, and refuses a wrong job") {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "job.yaml").string();
  std::ofstream(file) << kMillion;
  const auto text = captured([&] { CHECK(plan({file, {"cluster.workers=2"}, false, ".", false}) == 0); });
  for (const auto* const words :
       {"memory of shard 0", "the kernel's buffers of connections", "messages that never end", "disk of shard 0",
        "memory of each worker", "worker 1 (4 slots as 1 sum)", "one snapshot 12.0 MB", "all processes together"}) {
    CAPTURE(text);
    CHECK_MESSAGE(text.find(words) != std::string::npos, words);
  }
  const auto json = nlohmann::json::parse(captured([&] { CHECK(plan({file, {}, true, ".", true}) == 0); }));
  CHECK(json["shards"][0]["in_per_step"] == resources_of(job_of()).shards[0].in_per_step);
  CHECK(json["workers"][0]["slots"].is_number_integer());
  CHECK(json["shards"][0]["kernel_buffers"]["most"] == resources_of(job_of()).shards[0].kernel.most);
  CHECK(plan({file, {"training.slots=0"}, false, ".", false}) == 2);
  const auto least = (memory_of_shards(job_of()).at(0).least() + (1U << 20U) - 1) >> 20U;
  const auto with = [](std::uint64_t mib) { return std::vector{"cluster.memory_mib=" + std::to_string(mib)}; };
  captured([&] { CHECK(plan({file, with(least), false, ".", false}) == 0); });
  CHECK(plan({file, with(least - 1), false, ".", false}) == 2);
}

TEST_CASE("a journal's budget brings snapshots forward where every_steps would pass it, and nowhere else") {
  const auto steps = [](const std::vector<std::string>& more) {
    std::vector<std::string> overrides = {"training.mode=async", "training.max_steps=1000"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return steps_between_snapshots(job_of(overrides));
  };
  CHECK(steps({}) == 200);  // 8 slots of 4 MB: 6.4 GB
  CHECK(steps({"durability.journal_budget_mb=12900"}) == 200);
  CHECK(steps({"durability.journal_budget_mb=6400"}) == 99);  // the statistics take some as well
  CHECK(steps({"durability.journal_budget_mb=1"}) == 1);
  CHECK(steps({"durability.journal_budget_mb=6400", "durability.every_steps=50"}) == 50);
  CHECK(steps({"durability.journal_budget_mb=6400", "cluster.shards=4"}) == 200);
  CHECK(steps_between_snapshots(job_of({"durability.every_steps=1000"})) == 1000);  // sync: no journal
  const auto job = job_of({"training.mode=async", "training.max_steps=1000", "durability.journal_budget_mb=6400"});
  CHECK(journal_cuts_text(job) ==
        "a snapshot every 99 steps instead of 200: the journal of more would pass "
        "durability.journal_budget_mb, 6400 MB");
  CHECK(journal_cuts_text(job_of({"training.mode=async"})).empty());
  CHECK(part(resources_of(job).shards[0].disk, "the journal").most <= 6'400'000'000);
}

}  // namespace
}  // namespace ballast
