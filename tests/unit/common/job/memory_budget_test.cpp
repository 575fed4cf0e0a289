#include "common/job/memory_budget.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/job/shard_bytes.h"
#include "storage/store/rocksdb_limits.h"
#include "tests/unit/common/job/support.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;
constexpr std::uint64_t kLargest = 1'000'000;  // chunk of the job below

// 4,000,000 bytes in one tensor of 4 chunks; and the statistics chunk.
const std::string kMillion =
    "job: million\n"
    "model: {name: emulated, parameters: [{name: w, shape: [1000, 1000]}]}\n"
    "data: {name: none}\n"
    "training: {batch: 64, slots: 8, max_steps: 5}\n"
    "cluster: {}\n";

Job job_of(const std::vector<std::string>& overrides = {}) {
  return make_job(parse_job(kMillion, "million.yaml", overrides));
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::uint64_t part(const ShardMemory& shard, const std::string& what) {
  const auto found = std::ranges::find(shard.taken, what, &MemoryPart::what);
  return found == shard.taken.end() ? 0 : found->bytes;
}

std::uint64_t least_mib(const Job& job) {
  const auto shards = memory_of_shards(job);
  return (std::ranges::max(shards, {}, &ShardMemory::least).least() + kMebibyte - 1) / kMebibyte;
}

std::vector<std::uint64_t> least_of_each(const ShardMemory& shard) {
  std::vector<std::uint64_t> bytes;
  std::ranges::transform(shard.lanes, std::back_inserter(bytes), &LaneMemory::least);
  return bytes;
}

TEST_CASE("every byte that is left belongs to a lane, or to none by less than a piece each") {
  for (const auto* const lanes : {"cluster.lanes=1", "cluster.lanes=2", "cluster.lanes=3", "cluster.lanes=16"}) {
    for (const auto* const shards : {"cluster.shards=1", "cluster.shards=2", "cluster.shards=3"}) {
      const auto job = job_of({lanes, shards});
      for (const auto& shard : memory_of_shards(job)) {
        CAPTURE(lanes);
        CAPTURE(shards);
        CHECK_FALSE(shard.divide(shard.least() - 1));
        const auto tight = shard.divide(shard.least());
        REQUIRE(tight);
        CHECK(*tight == least_of_each(shard));
        for (const auto more : {std::uint64_t{1}, kMebibyte, 7 * kMebibyte, 100 * kMebibyte, std::uint64_t{1} << 43U}) {
          const auto total = shard.least() + more;
          const auto divided = shard.divide(total);
          REQUIRE(divided);
          CHECK(shard.taken_bytes() + sum(*divided) <= total);
          const bool owns = std::ranges::any_of(shard.lanes, [](const auto& lane) { return lane.owned > 0; });
          CHECK((!owns || shard.taken_bytes() + sum(*divided) + 16 * 2 * 65536 > total));
          for (std::size_t lane = 0; lane < shard.lanes.size(); ++lane) {
            CHECK((*divided)[lane] >= shard.lanes[lane].least());
          }
        }
      }
    }
  }
}

TEST_CASE("lanes have parts by the bytes that they own, and a small one no less than its reserve") {
  ShardMemory shard;
  shard.taken = {{"a part", 1000}, {"another", 24}};
  shard.lanes = {{3U << 20U, 1U << 20U, 0}, {1U << 20U, 1U << 20U, 0}, {0, 0, 0}};
  CHECK(shard.taken_bytes() == 1024);
  CHECK(shard.least() == 1024 + 2 * kMebibyte);
  using Shares = std::vector<std::uint64_t>;
  CHECK(shard.divide(1024 + 8 * kMebibyte) == Shares{6 * kMebibyte, 2 * kMebibyte, 0});
  CHECK(shard.divide(1024 + 4 * kMebibyte) == Shares{3 * kMebibyte, kMebibyte, 0});
  CHECK(shard.divide(1024 + 3 * kMebibyte) == Shares{2 * kMebibyte, kMebibyte, 0});  // by bytes: 2.25 and 0.75
  CHECK(shard.divide(1024 + 2 * kMebibyte) == Shares{kMebibyte, kMebibyte, 0});
  CHECK_FALSE(shard.divide(1023 + 2 * kMebibyte));
  // The reserve of one brings another below its own.
  shard.lanes = {{10U << 20U, 6U << 20U, 0}, {5U << 20U, 3U << 20U, 0}, {1U << 20U, 7U << 20U, 0}};
  CHECK(shard.divide(1024 + 16 * kMebibyte) == Shares{6 * kMebibyte, 3 * kMebibyte, 7 * kMebibyte});
}

TEST_CASE("a lane without chunks needs nothing and has nothing") {
  const auto job = job_of({"cluster.lanes=16"});
  const auto shard = memory_of_shards(job).at(0);
  const auto idle = std::ranges::count_if(shard.lanes, [](const auto& lane) { return lane.owned == 0; });
  REQUIRE((idle > 0 && idle < 16));
  const auto divided = shard.divide(shard.least() + 100 * kMebibyte);
  REQUIRE(divided);
  for (std::size_t lane = 0; lane < shard.lanes.size(); ++lane) {
    CHECK((shard.lanes[lane].owned == 0) == (shard.lanes[lane].reserve == 0));
    CHECK((shard.lanes[lane].owned == 0) == ((*divided)[lane] == 0));
  }
}

TEST_CASE("a round keeps back the nodes before the first missing slot and the one with it, of the largest chunk") {
  const auto reserve = [](const char* slots) {
    return memory_of_shards(job_of({slots, "training.batch=4096"})).at(0).lanes.at(0).reserve;
  };
  CHECK(reserve("training.slots=1") == kLargest);
  CHECK(reserve("training.slots=8") == 4 * kLargest);
  CHECK(reserve("training.slots=4096") == 13 * kLargest);
}

TEST_CASE("a step that needs the whole gradient keeps back all chunks beside the others' nodes") {
  const auto reserve = [](const std::vector<std::string>& overrides) {
    const auto job = job_of(overrides);
    const auto lane = memory_of_shards(job).at(0).lanes.at(0);
    const bool whole = needs_whole_gradient(job.spec.training);
    CHECK(lane.reserve == 3 * kLargest + (whole ? lane.owned : kLargest));
    return whole;
  };
  CHECK_FALSE(reserve({}));
  CHECK_FALSE(reserve({"training.clip.value=1"}));
  CHECK(reserve({"training.clip.global_norm=1"}));
  CHECK(reserve({"training.clip.tensor_norm=1"}));
  CHECK(reserve({"training.optimizer.name=lars"}));
  CHECK(reserve({"training.optimizer.name=lamb"}));
  CHECK(reserve({"training.non_finite=skip"}));
  CHECK(reserve({"training.non_finite=rollback"}));
  // What is clipped there are the gradients of local steps, by the worker.
  CHECK_FALSE(reserve({"training.mode=local", "training.local.steps=2", "training.clip.global_norm=1"}));
}

TEST_CASE("where each item is an update, the reserve is one chunk, and nothing needs a whole gradient") {
  for (const auto* const mode : {"training.mode=async", "training.mode=ssp"}) {
    const auto job = job_of({mode, std::string(mode).ends_with("ssp") ? "training.staleness.bound=9" : "job=million",
                             "training.non_finite=skip", "cluster.workers=3"});
    const auto shard = memory_of_shards(job).at(0);
    CHECK_FALSE(needs_whole_gradient(job.spec.training));
    CHECK(shard.lanes.at(0).reserve == kLargest);
    CHECK(shard.lanes.at(0).wanted == kLargest + 2 * 3 * (shard.lanes.at(0).owned + kLargest) + (1U << 17U));
    CHECK(part(shard, "the journal") == kJournalBytes);
  }
  CHECK(part(memory_of_shards(job_of({"training.mode=async", "durability.mode=snapshot"})).at(0), "the journal") == 0);
  CHECK(part(memory_of_shards(job_of()).at(0), "the journal") == 0);
}

TEST_CASE("what is taken off follows from the shard's own bytes") {
  const auto job = job_of({"cluster.shards=2", "training.optimizer.name=adam", "training.weight_average.decay=0.9"});
  const auto bytes = bytes_of_shards(job);
  const auto shards = memory_of_shards(job);
  REQUIRE(bytes[0].weights != bytes[1].weights);
  for (std::size_t number = 0; number < 2; ++number) {
    const auto& shard = shards[number];
    CHECK(part(shard, "weights, two versions") == 2 * bytes[number].weights);
    CHECK(part(shard, "optimizer state and average") == bytes[number].state);
    CHECK(part(shard, "a snapshot being written") == bytes[number].weights + bytes[number].state);
    CHECK(part(shard, "versions that slow readers keep") == 2 * bytes[number].weights);
    CHECK(part(shard, "the database") == kDatabaseBytes);
    const auto chunks = Placement(job.arena, 2, 1).of_shard(static_cast<std::uint32_t>(number));
    const auto largest = std::ranges::max(chunks, {}, &Chunk::elements).bytes();
    CHECK(part(shard, "a spare buffer") == largest);
  }
  // Shard 0 has the lead beside.
  CHECK(part(shards[0], "answers that nobody has read") > part(shards[1], "answers that nobody has read"));
}

TEST_CASE("without cluster.memory_mib it is what the workers can make use of, at most half of the machine") {
  const auto job = job_of({"cluster.workers=3"});
  const auto shard = memory_of_shards(job).at(0);
  CHECK(pushed_per_step(job) == 5);  // 8 slots as [0, 2), [2, 5), [5, 8)
  const auto& lane = shard.lanes.at(0);
  const auto has = shard.divide(shard.wanted()).value().at(0);
  // The part of each that is given ahead: what it pushes of a step, though less than a small chunk is never given.
  CHECK((has - lane.least()) / (2 * 5) >= lane.owned + kLargest);
  CHECK(lane.wanted <= lane.least() + 2 * 5 * (lane.owned + kLargest) + (1U << 17U));
  CHECK(server_bytes(job, shard, 0) == shard.wanted());
  CHECK(server_bytes(job, shard, 2 * shard.wanted()) == shard.wanted());
  CHECK(server_bytes(job, shard, 2 * shard.wanted() - 2) == shard.wanted() - 1);
  const auto given = job_of({"cluster.memory_mib=5000"});
  CHECK(server_bytes(given, shard, 1) == 5000 * kMebibyte);
  CHECK_FALSE(why_too_little_memory(job, 0));
  CHECK_FALSE(why_too_little_memory(job, 2 * shard.least()));
  const auto why = why_too_little_memory(job, 2 * shard.least() - 2);
  REQUIRE(why);
  CHECK(why->starts_with("not given, and half of the memory here, "));
  CHECK(why->find("set it to " + std::to_string(least_mib(job)) + " or more") != std::string::npos);
}

TEST_CASE("a job file that gives too little is refused by line, with its parts and the least that would do") {
  const testing::TemporaryFolder folder;
  for (const auto& more : {std::vector<std::string>{},
                           {"cluster.shards=3"},
                           {"cluster.lanes=4", "cluster.workers=40"},
                           {"training.clip.global_norm=1"},
                           {"training.mode=async"}}) {
    const auto least = least_mib(job_of(more));
    const auto with = [&](std::uint64_t mib) {
      return folder.file("job.yaml", testing::replaced(kMillion, "{}", "{memory_mib: " + std::to_string(mib) + "}"));
    };
    const auto file = with(least);
    CHECK(load_job(file, more, Fit::judged).cluster.memory_mib == least);
    with(least - 1);
    CHECK(load_job(file, more).cluster.memory_mib == least - 1);  // who only reads it takes it as it is
    try {
      load_job(file, more, Fit::judged);
      FAIL_CHECK("it was taken");
    } catch (const ConfigError& error) {
      const std::string text = error.what();
      CAPTURE(text);
      CHECK(
          text.starts_with(file + ":5: cluster.memory_mib: " + std::to_string(least - 1) + " is too little: shard 0"));
      for (const auto& words : {"needs " + std::to_string(least) + " MiB (the process itself 26, ",
                                std::string("a snapshot being written "), std::string("contributions "),
                                "set it to " + std::to_string(least) + " or more"}) {
        CHECK_MESSAGE(text.find(words) != std::string::npos, words);
      }
    }
  }
}

TEST_CASE("of several shards the one that needs most is named, and what it needs does for all") {
  const auto job = job_of({"cluster.shards=2", "cluster.memory_mib=1"});
  const auto shards = memory_of_shards(job);
  CHECK(why_too_little_memory(job, 0)->find("shard 0 needs") != std::string::npos);  // the lead's
  CHECK(why_too_little_memory(job, 1, 0)->find("shard 1 needs") != std::string::npos);
  const auto enough = job_of({"cluster.shards=2", "cluster.memory_mib=" + std::to_string(least_mib(job))});
  CHECK_FALSE(why_too_little_memory(enough, 0));
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    CHECK_FALSE(why_too_little_memory(enough, shard, 1));
    CHECK(shards[shard].divide(least_mib(job) * kMebibyte).has_value());
  }
}

TEST_CASE("a shard of seven billion floats on sixteen lanes is divided without wrapping") {
  auto text = testing::replaced(kMillion, "shape: [1000, 1000]", "shape: [65536, 106811]");
  const auto job = make_job(parse_job(text, "large.yaml",
                                      std::vector<std::string>{"cluster.lanes=16", "training.slots=4096",
                                                               "training.batch=4096", "cluster.workers=256"}));
  const auto shard = memory_of_shards(job).at(0);
  const auto most = kMaxMemoryMib * kMebibyte;
  const auto divided = shard.divide(~std::uint64_t{0});
  REQUIRE(divided);
  CHECK(shard.taken_bytes() + sum(*divided) <= most);
  CHECK(shard.taken_bytes() + sum(*divided) + 16 * 65536 > most);
  CHECK(std::ranges::max(*divided) - std::ranges::min(*divided) < most / 16 / 100);
  CHECK(server_bytes(job, shard, 0) == shard.wanted());
}

}  // namespace
}  // namespace ballast
