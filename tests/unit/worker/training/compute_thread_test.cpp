#include "worker/training/compute_thread.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/job/load.h"
#include "tests/unit/worker/compute/wrapped_backend.h"
#include "tests/unit/worker/data/files.h"
#include "tests/unit/worker/training/posted_events.h"

namespace ballast {
namespace {

using namespace testing;

Job small_job() {
  return make_job(
      parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\n"
                "data: {name: glyphs, train_examples: 100, test_examples: 30, validation_examples: 20}\n"
                "training: {batch: 16, slots: 4, epochs: 1, optimizer: {name: sgd, learning_rate: 0.1}}\n",
                "the test's job"));
}

// Of one step's slots, by the node and the chunk.
std::map<std::pair<Node, ChunkId>, Slot> faults_of(const Job& job, const std::string& fault, Step step,
                                                   std::vector<SlotRange> ranges, bool& sum_is_finite) {
  const Environment environment("BALLAST_FAULT", fault);
  PostedEvents events;
  ComputeThread thread(job, "", on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); });
  events.up_to<worker::Prepared>();
  thread.compute({step, std::move(ranges)});
  std::map<std::pair<Node, ChunkId>, Slot> faults;
  sum_is_finite = true;
  for (const auto& event : events.up_to<worker::Computed>()) {
    if (const auto* ready = std::get_if<worker::GradientReady>(&event)) {
      CHECK(faults.emplace(std::pair(ready->node, ready->chunk), ready->fault).second);
      const auto& chunk = job.arena.chunks[ready->chunk];
      for (const float value :
           thread.gradients().values(thread.arena_of(ready->payload)).subspan(chunk.offset, chunk.elements)) {
        sum_is_finite = sum_is_finite && std::isfinite(value);
      }
    }
  }
  return faults;
}

ChunkId chunk_of(const Job& job, const std::string& parameter) {
  for (std::size_t i = 0; i < job.arena.parameters.size(); ++i) {
    for (const auto& chunk : job.arena.chunks) {
      if (job.arena.parameters[i].name == parameter && chunk.offset <= job.arena.extents[i].offset &&
          job.arena.extents[i].offset < chunk.offset + chunk.elements) {
        return chunk.id;
      }
    }
  }
  FAIL("no parameter " << parameter);
  return 0;
}

TEST_CASE("each sum says which slot's gradient was not finite") {
  const auto job = small_job();
  const auto bad = chunk_of(job, "fc1.weight");
  for (const auto& fault : {std::string("nan@1:2:fc1.weight"), std::string("inf@1:2:fc1.weight")}) {
    bool sum_is_finite = true;
    const auto faults = faults_of(job, fault, 1, {{0, 1}, {2, 4}}, sum_is_finite);
    CHECK(faults.size() == 2 * job.arena.chunks.size());
    for (const auto& [where, slot] : faults) {
      CHECK(slot == (where == std::pair(Node{2, 4}, bad) ? Slot{2} : kNoSlot));
    }
    CHECK_FALSE(sum_is_finite);
  }
}

TEST_CASE("examples of the slots that were computed are counted, and norms by layer are of gradients as they were") {
  const auto job = small_job();
  PostedEvents events;
  ComputeThread thread(
      job, "", on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); }, {},
      std::make_shared<TraceRing>(1), true);
  events.up_to<worker::Prepared>();
  REQUIRE(thread.norms() != nullptr);
  CHECK(thread.norms()->groups() == std::vector<std::string>{"fc1", "fc2"});
  thread.compute({0, {{1, 2}}});
  double squares = 0;  // of fc1's gradient, of a slot that is a quarter of the step
  for (const auto& event : events.up_to<worker::Computed>()) {
    const auto* ready = std::get_if<worker::GradientReady>(&event);
    for (std::size_t i = 0; ready != nullptr && i < job.arena.parameters.size(); ++i) {
      const auto& extent = job.arena.extents[i];
      const auto& chunk = job.arena.chunks[ready->chunk];
      if (job.arena.parameters[i].name.starts_with("fc1.") && chunk.offset <= extent.offset &&
          extent.offset < chunk.offset + chunk.elements) {
        for (const float value :
             thread.gradients().values(thread.arena_of(ready->payload)).subspan(extent.offset, extent.elements)) {
          squares += static_cast<double>(value) * value;
        }
      }
    }
  }
  CHECK(thread.examples() == 4);
  CHECK(squares > 0);
  CHECK(thread.norms()->norm(0).value() == doctest::Approx(4 * std::sqrt(squares)));
}

TEST_CASE("another step's fault is none, and an overflow of the sum is nobody's") {
  const auto job = small_job();
  bool sum_is_finite = true;
  for (const auto& [where, slot] : faults_of(job, "nan@1:2:fc1.weight", 2, {{0, 4}}, sum_is_finite)) {
    CHECK(slot == kNoSlot);
  }
  CHECK(sum_is_finite);
  const auto both = "huge@1:0:fc1.weight,huge@1:1:fc1.weight";
  for (const auto& [where, slot] : faults_of(job, both, 1, {{0, 4}}, sum_is_finite)) {
    CHECK(slot == kNoSlot);
  }
  CHECK_FALSE(sum_is_finite);
}

TEST_CASE("faults leave the fingerprint alone, and one that cannot be is a failure that says why") {
  const auto job = small_job();
  std::vector<std::string> fingerprints;
  for (const auto* fault : {"", "nan@0:0:fc1.weight"}) {
    const Environment environment("BALLAST_FAULT", fault);
    PostedEvents events;
    const ComputeThread thread(job, "", on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); });
    fingerprints.push_back(std::get<worker::Prepared>(events.up_to<worker::Prepared>().back()).layout.fingerprint);
  }
  CHECK(fingerprints[0] == fingerprints[1]);
  const Environment environment("BALLAST_FAULT", "nan@0:0:fc9.weight");
  PostedEvents events;
  const ComputeThread thread(job, "", on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); });
  CHECK(contains(std::get<worker::Failed>(events.up_to<worker::Failed>().back()).text, "no parameter 'fc9.weight'"));
}

// Computes as the cpu does, by another name.
class Renamed : public WrappedBackend {
 public:
  [[nodiscard]] std::string arithmetic() const override { return "tpu-bfloat16"; }
};

std::string fingerprint_of(const Job& job, const MakeBackend& make_backend) {
  PostedEvents events;
  const ComputeThread thread(job, "", make_backend, [&](worker::Event event) { events.post(std::move(event)); });
  return std::get<worker::Prepared>(events.up_to<worker::Prepared>().back()).layout.fingerprint;
}

TEST_CASE("a fingerprint names backend and precision, even where the bits are the same") {
  const auto job = small_job();
  const auto cpu = fingerprint_of(job, on_cpu(1));
  const std::string name = "cpu-float32-";
  CHECK(cpu.starts_with(name));
  CHECK(cpu.size() == name.size() + 16);
  CHECK(fingerprint_of(job, [] { return std::make_unique<Renamed>(); }) == "tpu-bfloat16-" + cpu.substr(name.size()));
}

// Tells on which threads it was prepared and destroyed.
class Threaded : public WrappedBackend {
 public:
  explicit Threaded(std::vector<std::thread::id>& threads) : threads_(threads) { note(); }
  ~Threaded() override { note(); }
  Threaded(const Threaded&) = delete;
  Threaded& operator=(const Threaded&) = delete;

 private:
  void note() { threads_.push_back(std::this_thread::get_id()); }

  std::vector<std::thread::id>& threads_;
};

TEST_CASE("a backend ends on the thread that it began on, whether the job ends or fails") {
  const auto job = small_job();
  for (const auto* fault : {"", "nan@0:0:fc9.weight"}) {
    const Environment environment("BALLAST_FAULT", fault);
    std::vector<std::thread::id> threads;
    {
      PostedEvents events;
      const ComputeThread thread(
          job, "", [&] { return std::make_unique<Threaded>(threads); },
          [&](worker::Event event) { events.post(std::move(event)); });
      if (*fault == '\0') {
        events.up_to<worker::Prepared>();
      } else {
        events.up_to<worker::Failed>();
      }
    }
    REQUIRE(threads.size() == 2);
    CHECK(threads[0] == threads[1]);
    CHECK(threads[0] != std::this_thread::get_id());
  }
}

TEST_CASE("validation and test examples are evaluated by split") {
  const auto job = small_job();
  PostedEvents events;
  ComputeThread thread(job, "", on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); });
  events.up_to<worker::Prepared>();
  const auto evaluate = [&](Split split, std::uint32_t begin, std::uint32_t end) {
    thread.evaluate({split, 7, 3, begin, end});
    return std::get<worker::Evaluated>(events.up_to<worker::Evaluated>().back()).result;
  };
  const auto validation = evaluate(Split::validation, 0, 20);
  const auto test = evaluate(Split::test, 0, 20);
  CHECK(validation.split == Split::validation);
  CHECK(test.split == Split::test);
  CHECK(validation.item == 7);
  CHECK(validation.version == 3);
  CHECK(validation.examples == 20);
  CHECK(validation.loss_sum != test.loss_sum);
  CHECK(evaluate(Split::validation, 0, 20) == validation);
  CHECK(evaluate(Split::test, 0, 30).examples == 30);
  thread.evaluate({Split::validation, 0, 3, 0, 21});
  CHECK(contains(std::get<worker::Failed>(events.up_to<worker::Failed>().back()).text, "their split has 20"));
}

// A compute thread and what its loop does with it, on the cpu itself or on a device that copies weights.
class WorkerThread {
 public:
  WorkerThread(const Job& job, const MakeBackend& make_backend)
      : job_(job), thread_(job, "", make_backend, [this](worker::Event event) { events_.post(std::move(event)); }) {
    events_.up_to<worker::Prepared>();
  }

  // Weights drawn from the seed, in these chunks or in all.
  void store(std::uint64_t seed, std::optional<ChunkId> one = std::nullopt) {
    for (const auto& chunk : job_.arena.chunks) {
      if (!one || *one == chunk.id) {
        auto weights = std::make_shared<std::vector<float>>(chunk.elements);
        for (std::size_t i = 0; i < chunk.elements; ++i) {
          (*weights)[i] = static_cast<float>((i + 3 * seed) % 17) * 0.01F - 0.08F;
        }
        const auto bytes = std::as_bytes(std::span(*weights));
        thread_.store(chunk.id, bytes, std::move(weights));
      }
    }
  }
  // All sums of a step.
  std::vector<float> step(Step step) {
    thread_.compute({step, {{0, job_.spec.training.slots}}});
    std::vector<float> sums;
    for (const auto& event : events_.up_to<worker::Computed>()) {
      if (const auto* ready = std::get_if<worker::GradientReady>(&event)) {
        const auto& chunk = job_.arena.chunks[ready->chunk];
        const auto arena = thread_.arena_of(ready->payload);
        const auto sum = thread_.gradients().values(arena).subspan(chunk.offset, chunk.elements);
        sums.insert(sums.end(), sum.begin(), sum.end());
        thread_.gradients().give_back_chunk(arena);
      }
    }
    return sums;
  }
  double evaluate() {
    thread_.evaluate({Split::validation, 0, 0, 0, 20});
    return std::get<worker::Evaluated>(events_.up_to<worker::Evaluated>().back()).result.loss_sum;
  }

 private:
  const Job& job_;
  PostedEvents events_;
  ComputeThread thread_;
};

// The same on both; says how often the device has copied for it.
struct Compared {
  explicit Compared(const Job& job)
      : cpu(job, on_cpu(1)), device(job, [this] { return std::make_unique<CopyingBackend>(copies); }) {
    copies = 0;  // the fingerprint's
  }
  void store(std::uint64_t seed, std::optional<ChunkId> one = std::nullopt) {
    cpu.store(seed, one);
    device.store(seed, one);
  }
  int step(Step step) {
    CHECK(device.step(step) == cpu.step(step));
    return std::exchange(copies, 0);
  }
  int evaluate() {
    CHECK(device.evaluate() == cpu.evaluate());
    return std::exchange(copies, 0);
  }

  int copies = 0;
  WorkerThread cpu;
  WorkerThread device;
};

TEST_CASE("weights are copied to a device once for all that is computed on them, and always when they have changed") {
  const auto job = small_job();
  Compared compared(job);
  compared.store(1);
  CHECK(compared.step(0) == 1);
  CHECK(compared.evaluate() == 0);
  compared.store(2);
  CHECK(compared.evaluate() == 1);
  CHECK(compared.step(1) == 0);
  compared.store(1);  // back on another timeline, to the same step
  CHECK(compared.step(1) == 1);
  for (const auto& chunk : job.arena.chunks) {  // a pull of one chunk
    compared.store(3, chunk.id);
    CHECK(compared.step(2) == 1);
  }
  CHECK(compared.step(3) == 0);
}

TEST_CASE("local steps change their own weights, and a device copies them for each") {
  const auto job =
      make_job(parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\n"
                         "data: {name: glyphs, train_examples: 100, validation_examples: 20}\n"
                         "training: {mode: local, batch: 16, slots: 2, epochs: 1, local: {steps: 2}}\n",
                         "the test's job"));
  Compared compared(job);
  compared.store(1);
  CHECK(compared.step(0) == 4);
  CHECK(compared.evaluate() == 1);
  CHECK(compared.evaluate() == 0);
  compared.store(2);
  CHECK(compared.step(1) == 4);
}

worker::Failed failure_of(const Job& job, const std::string& path) {
  PostedEvents events;
  const ComputeThread thread(job, path, on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); });
  return std::get<worker::Failed>(events.up_to<worker::Failed>().back());
}

TEST_CASE("data that are not what the job says would fail another life, too") {
  const testing::TemporaryFolder folder;
  const auto job =
      make_job(parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\ndata: {name: csv, train: t.csv, "
                         "train_examples: 2, columns: [{name: a}, {name: b, kind: flag}]}\n"
                         "training: {batch: 2, slots: 2, epochs: 1}\n",
                         "the test's job"));
  const auto check_bad = [&](const std::string& why) {
    const auto failed = failure_of(job, folder.path());
    CHECK(contains(failed.text, why));
    CHECK(failed.for_good);
    CHECK(failed.of_data);
  };
  check_bad("there is no such file");
  folder.write("t.csv", testing::bytes("a,c\n1,0\n2,1\n"));
  check_bad("names no column 'b'");
  folder.write("t.csv", testing::bytes("a,b\n1,0\n2,7\n"));
  check_bad("'7' is neither 0 nor 1");
  folder.write("t.csv", testing::bytes("a,b\n1,0\n"));
  check_bad("holds 1 good examples where data.train_examples counts on 2");
}

TEST_CASE("what has nothing to do with the data is not told to be theirs") {
  const Environment environment("BALLAST_FAULT", "nan@0:0:fc9.weight");
  const auto failed = failure_of(small_job(), "");
  CHECK(contains(failed.text, "no parameter 'fc9.weight'"));
  CHECK_FALSE(failed.for_good);
  CHECK_FALSE(failed.of_data);
}

TEST_CASE("examples that are left out are counted, and told once the data is open") {
  const testing::TemporaryFolder folder;
  const std::string rows = "a,b\n1,0\n2,1\nx,1\n3,0\n4\n5,1\n";
  folder.write("t.csv", {rows.begin(), rows.end()});
  const auto job =
      make_job(parse_job("job: test\nmodel: {name: mlp, hidden: [8]}\ndata: {name: csv, corrupt: skip, train: t.csv, "
                         "train_examples: 4, columns: [{name: a}, {name: b, kind: flag}]}\n"
                         "training: {batch: 4, slots: 2, epochs: 1}\n",
                         "the test's job"));
  PostedEvents events;
  ComputeThread thread(job, folder.path(), on_cpu(1), [&](worker::Event event) { events.post(std::move(event)); });
  events.up_to<worker::Prepared>();
  CHECK(thread.corrupt_examples() == 2);
}

}  // namespace
}  // namespace ballast
