#include "cli/advising/slot_probe.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "common/job/model_graph.h"
#include "common/machine/processor_use.h"
#include "common/net/clock.h"
#include "common/trace/trace_ring.h"
#include "insight/medians.h"
#include "worker/data/failures.h"
#include "worker/data/job_data.h"
#include "worker/training/probe_slot.h"
#include "worker/training/trainer.h"

namespace ballast {
namespace {

constexpr std::size_t kMostPairs = 64;
constexpr std::size_t kLeastPairs = 3;
constexpr std::size_t kWarming = 2;  // pairs
constexpr std::size_t kMostReady = 256;
constexpr std::uint32_t kDrawn = 64;  // examples

double micros_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// As many as the job has, of its shape.
class DrawnExamples : public Dataset {
 public:
  explicit DrawnExamples(const Job& job)
      : sizes_(job.sizes), shape_(job.shape), drawn_(probe_slot(shape_, kDrawn, 1)) {}

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::train ? sizes_.train : split == DataSplit::test ? sizes_.test : sizes_.validation;
  }
  void read(DataSplit /*split*/, std::uint32_t index, const ExampleRoom& room) const override {
    const auto at = index % kDrawn;
    const auto steps = shape_.steps;
    copy(drawn_.features, at, room.features);
    copy(drawn_.tokens, at, room.tokens);
    copy(drawn_.children, at, room.children);
    copy(drawn_.labels, at, room.labels);
    copy(drawn_.targets, at, room.targets);
    if (!room.length.empty()) {
      room.length[0] = drawn_.lengths.empty() ? steps : drawn_.lengths[at];
    }
  }
  [[nodiscard]] std::int32_t label(DataSplit /*split*/, std::uint32_t index) const override {
    return drawn_.labels.empty() ? 0 : drawn_.labels[index % kDrawn];
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return "drawn"; }

 private:
  // Each example's room is as large as the longest's, or shorter where all of them are.
  template <typename Value>
  static void copy(const std::vector<Value>& from, std::uint32_t at, std::span<Value> to) {
    const auto each = from.size() / kDrawn;
    const auto count = std::min(each, to.size());
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at * each), count, to.begin());
  }

  SplitSizes sizes_;
  ExampleShape shape_;
  SlotExamples drawn_;
};

class Probing {
 public:
  Probing(const Job& job, const SlotProbing& probing)
      : job_(job),
        weights_(job.arena.elements),
        pool_(job.arena, gradient_arenas(job.spec.training.slots)),
        trainer_(
            job, probing.data_path,
            [this, request = probing.backend] {
              auto backend = make_backend(request, find_cuda_files(), [](const std::string& /*text*/) {});
              found_.backend = backend->description();
              return backend;
            },
            pool_, [this](const worker::Event& event) { take(event); }, {}, ring_, nullptr) {
    found_.backend = has_graph(job.spec.model) ? "" : "a clock (the emulated model)";
    prepare(probing.data_path);
    found_.readers = std::max(1U, read_ahead_of(job.spec).threads);
  }

  SlotProbe run(double seconds) {
    for (std::size_t pair = 0; pair < kWarming; ++pair) {
      train(pair);
    }
    ready_.clear();
    const auto begin = std::chrono::steady_clock::now();
    const auto spent = processor_seconds();
    std::size_t pairs = 0;
    while (pairs < kLeastPairs || (pairs < kMostPairs && micros_since(begin) < seconds * 1e6)) {
      train(kWarming + pairs++);
    }
    found_.processors = (processor_seconds() - spent) / (micros_since(begin) / 1e6);
    take_records();
    found_.begins = copying();
    return std::move(found_);
  }

 private:
  void prepare(const std::string& data_path) {
    try {
      trainer_.prepare(weights_.values(), open_job_data(job_, data_path));
      has_data_ = true;
    } catch (const BadData& error) {
      found_.data_trouble = error.what();
    } catch (const ReadFailure& error) {
      found_.data_trouble = error.what();
    }
    if (!has_data_) {
      trainer_.prepare(weights_.values(), std::make_unique<DrawnExamples>(job_));
    }
  }

  // In item mode slots are not added up.
  [[nodiscard]] Slot pair_size() const {
    const auto& training = job_.spec.training;
    return training.slots > 1 && !is_item_mode(training.mode) ? 2 : 1;
  }

  // Two slots that make one sum, where the job has such.
  void train(std::size_t pair) {
    const auto whole = std::max<std::uint64_t>(1, job_.sizes.train / job_.spec.training.batch);
    const auto step = static_cast<Step>(pair % whole);
    const auto slots = pair_size();
    trainer_.prefetch(step, {{0, slots}});
    trainer_.begin({step, {{0, slots}}});
    trainer_.train({weights_.values(), step});
  }

  // From the thread that computes.
  void take(const worker::Event& event) {
    if (const auto* gradient = std::get_if<worker::GradientReady>(&event)) {
      ready_[gradient->chunk].push_back(monotonic_micros());
      pool_.give_back_chunk(arena_of_gradient(job_.arena, gradient->payload));
    }
  }

  void take_records() {
    std::vector<TraceRecord> slots;
    std::vector<double> reading;
    for (const auto& record : ring_->read(0, kRecords).records) {
      if (record.kind == TraceKind::slot) {
        slots.push_back(record);
      } else if (record.kind == TraceKind::fetch && ++fetched_ > 2 * kWarming) {
        reading.push_back(static_cast<double>(record.second - record.first));
      }
    }
    const std::size_t each = pair_size();
    slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(each * kWarming));
    // Whoever wants examples that no reader has begun with reads them himself.
    std::vector<double> waits;
    for (const auto& slot : slots) {
      waits.push_back(static_cast<double>(slot.second - slot.first));
    }
    of_slots(slots, each);
    if (has_data_) {
      found_.fetch = insight::median(reading.empty() ? std::move(waits) : std::move(reading));
    }
  }

  void of_slots(const std::vector<TraceRecord>& slots, std::size_t each) {
    std::vector<double> between;
    std::vector<Micros> last;  // of each pair, when the slot by which its sums become whole had its examples
    std::vector<double> takes;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto& slot = slots[i];
      const auto span = static_cast<double>(slot.fourth - slot.second);
      (i % each == 0 ? found_.alone : found_.joined).push_back(span);
      if (i % each == 1) {
        between.push_back(static_cast<double>(slot.first - slots[i - 1].fourth));
      }
      if (i % each == each - 1) {
        last.push_back(slot.second);
        takes.push_back(span);
      }
    }
    found_.between = insight::median(std::move(between));
    of_ready(last, takes);
  }

  void of_ready(const std::vector<Micros>& last, const std::vector<double>& takes) {
    const auto chunks = job_.arena.chunks.size();
    const auto wanted = std::min(chunks, kMostReady);
    for (std::size_t i = 0; i < wanted; ++i) {
      const auto chunk = static_cast<ChunkId>(wanted == 1 ? 0 : i * (chunks - 1) / (wanted - 1));
      const auto& moments = ready_[chunk];
      std::vector<double> parts;
      for (std::size_t pair = 0; pair < std::min(moments.size(), last.size()); ++pair) {
        const auto part = static_cast<double>(moments[pair] - last[pair]) / std::max(takes[pair], 1.0);
        parts.push_back(std::clamp(part, 0.0, 1.0));
      }
      found_.ready.push_back(insight::median(std::move(parts)));
    }
  }

  // Of the last chunk to come, as it is written to where it is computed with.
  [[nodiscard]] double copying() const {
    std::size_t largest = 0;
    for (const auto& chunk : job_.arena.chunks) {
      largest = std::max<std::size_t>(largest, chunk.elements);
    }
    const std::vector<float> chunk(largest, 1.0F);
    std::vector<double> took;
    constexpr int kTimes = 15;
    for (int i = 0; i < kTimes; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      std::ranges::copy(chunk, weights_.values().begin());
      took.push_back(micros_since(begin));
    }
    return insight::median(std::move(took));
  }

  static constexpr std::size_t kRecords = 8 * (kMostPairs + kWarming);

  const Job& job_;
  SlotProbe found_;
  bool has_data_ = false;
  std::size_t fetched_ = 0;
  HostArena weights_;
  GradientPool pool_;
  std::shared_ptr<TraceRing> ring_ = std::make_shared<TraceRing>(kRecords);
  std::map<ChunkId, std::vector<Micros>> ready_;  // when sums of each chunk were
  Trainer trainer_;
};

}  // namespace

SlotProbe probe_slots(const Job& job, const SlotProbing& probing) { return Probing(job, probing).run(probing.seconds); }

}  // namespace ballast
