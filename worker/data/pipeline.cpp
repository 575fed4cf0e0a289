// Background threads read the hinted slots in the order of the hints, each a slot at a time.
//
//   queued  --reader-->  reading  --reader-->  ready  --take-->  gone
//      `------take: reads it in its own thread------------------^
//
// Slots that are being read or ready are bounded in bytes: what would go beyond stays queued until others are taken.
// The hints of the last two distinct steps are kept, those of older steps dropped: a worker takes the slots of one step
// while those of the next are read. So at most 2 * slots entries exist, with at most 2 * batch examples.
#include "worker/data/pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "worker/data/augment.h"
#include "worker/data/order.h"

namespace ballast {
namespace {

constexpr std::size_t kStepsKept = 2;

enum class Stage : std::uint8_t { queued, reading, ready };

struct Entry {
  std::uint64_t step = 0;
  std::uint32_t slot = 0;
  Stage stage = Stage::queued;
  bool dropped = false;  // while being read: its reader erases it
  SlotExamples examples;
  std::exception_ptr error;
};

// Of the set for emulated models.
bool is_empty(const ExampleShape& shape) { return shape.vocabulary == 0 && shape.features() == 0; }

// Of a slot whose sequences are all as long as the longest.
std::uint64_t bytes_of(const ExampleShape& shape, std::uint32_t count) {
  constexpr std::uint64_t kOfStep = 4 * sizeof(std::int32_t);  // token, two children, label
  return count * (sizeof(float) * (shape.features() + shape.classes) + kOfStep * std::max(shape.steps, 1U));
}

void check(const Dataset& dataset, const TrainingSpec& training) {
  if (training.slots == 0 || training.batch == 0 || training.batch % training.slots != 0) {
    throw std::invalid_argument("training.batch is " + std::to_string(training.batch) +
                                ", but must be a positive multiple of training.slots, " +
                                std::to_string(training.slots));
  }
  if (dataset.size(DataSplit::train) == 0) {
    throw std::invalid_argument("the data set has no examples to train on; set data.train_examples");
  }
}

EpochOrders::Make order_maker(const Dataset& dataset, const TrainingSpec& training) {
  const auto examples = dataset.size(DataSplit::train);
  if (!draws_by_class(training)) {
    return [seed = training.seed, examples](std::uint64_t epoch) { return epoch_order(seed, epoch, examples); };
  }
  std::vector<std::int32_t> labels(examples);
  for (std::uint32_t i = 0; i < examples; ++i) {
    labels[i] = dataset.label(DataSplit::train, i);
  }
  return [seed = training.seed, slots = training.slots, sorted = sorted_by_label(labels)](std::uint64_t epoch) {
    return epoch_order_by_class(seed, epoch, sorted, slots);
  };
}

}  // namespace

struct Pipeline::Impl {
  Impl(const Dataset& data, const TrainingSpec& spec, const ReadAhead& read_ahead)
      : dataset(data),
        training(spec),
        slot_bytes(bytes_of(data.shape(), spec.batch / spec.slots)),
        most_slots(std::max<std::uint64_t>(1, read_ahead.bytes / std::max<std::uint64_t>(1, slot_bytes))),
        normalisation(read_ahead.normalisation),
        before_reading(read_ahead.before_reading),
        has_read(read_ahead.has_read),
        orders(order_maker(data, spec)) {
    for (std::uint32_t i = 0; i < std::max(read_ahead.threads, 1U); ++i) {
      readers.emplace_back([this](const std::stop_token& stop) { run(stop); });
    }
  }

  // A function of (step, slot) alone; called by all threads.
  SlotExamples read(std::uint64_t step, std::uint32_t slot) {
    if (before_reading) {
      before_reading(step, slot);
    }
    const SlotExtent range = slot_extent(training, dataset.size(DataSplit::train), step, slot);
    const ExampleShape& shape = dataset.shape();
    SlotExamples examples(shape, range.count);
    if (range.count == 0 || is_empty(shape)) {
      return examples;  // the order of empty examples shows nowhere
    }
    const EpochOrders::Order order = orders.of(range.epoch);
    const AugmentSpec& augment = training.augment;
    std::vector<float> scratch(augments(augment) ? shape.features() : 0);
    for (std::uint32_t i = 0; i < range.count; ++i) {
      const auto example = (*order)[range.first + i];
      const ExampleRoom room = examples.room(i);
      dataset.read(DataSplit::train, example, room);
      if (!scratch.empty()) {
        const auto drawn = draw_augmentation(training.seed, range.epoch, example, augment);
        augment_image(drawn, augment, shape, normalisation, room.features, scratch);
      }
    }
    examples.pad();
    return examples;
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (true) {
      std::list<Entry>::iterator next;
      const auto find_next = [&] {
        next = std::ranges::find(entries, Stage::queued, &Entry::stage);
        return next != entries.end() && held() < most_slots;
      };
      if (!work.wait(lock, stop, find_next) || stop.stop_requested()) {
        return;
      }
      next->stage = Stage::reading;
      lock.unlock();
      const auto begun = std::chrono::steady_clock::now();
      try {
        next->examples = read(next->step, next->slot);  // nobody else touches an entry being read but its `dropped`
        if (has_read) {
          has_read(next->step, next->slot, begun, std::chrono::steady_clock::now());
        }
      } catch (...) {
        next->error = std::current_exception();
      }
      lock.lock();
      next->stage = Stage::ready;
      if (next->dropped) {
        entries.erase(next);
        work.notify_one();
      }
      finished.notify_one();
    }
  }

  // Slots that take memory.
  [[nodiscard]] std::uint64_t held() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(entries, [](const Entry& entry) { return entry.stage != Stage::queued; }));
  }

  std::list<Entry>::iterator find(std::uint64_t step, std::uint32_t slot) {
    return std::ranges::find_if(
        entries, [&](const Entry& entry) { return entry.step == step && entry.slot == slot && !entry.dropped; });
  }

  void keep_step(std::uint64_t step) {
    std::erase(steps, step);
    steps.push_back(step);
    if (steps.size() <= kStepsKept) {
      return;
    }
    const std::uint64_t old = steps.front();
    steps.pop_front();
    std::erase_if(entries, [&](const Entry& entry) { return entry.step == old && entry.stage != Stage::reading; });
    for (Entry& entry : entries) {
      entry.dropped = entry.dropped || entry.step == old;
    }
  }

  const Dataset& dataset;
  const TrainingSpec training;
  const std::uint64_t slot_bytes;
  const std::uint64_t most_slots;
  const Normalisation normalisation;
  const decltype(ReadAhead::before_reading) before_reading;
  const decltype(ReadAhead::has_read) has_read;
  EpochOrders orders;

  std::mutex mutex;
  std::condition_variable_any work;   // an entry was queued, or one that was held has gone
  std::condition_variable finished;   // a reader is done with an entry
  std::list<Entry> entries;           // in the order of the hints
  std::deque<std::uint64_t> steps;    // hinted last, newest at the back
  std::vector<std::jthread> readers;  // last: they stop and are joined before the rest goes
};

ReadAhead read_ahead_of(const JobSpec& spec) {
  return {.threads = spec.data.threads,
          .normalisation = augments(spec.training.augment) ? normalisation_of(spec.data) : Normalisation({}, {})};
}

Pipeline::Pipeline(const Dataset& dataset, const TrainingSpec& training, const ReadAhead& read_ahead) {
  check(dataset, training);
  impl_ = std::make_unique<Impl>(dataset, training, read_ahead);
}

Pipeline::~Pipeline() = default;

void Pipeline::prefetch(std::uint64_t step, std::span<const std::uint32_t> slots) {
  const std::lock_guard lock(impl_->mutex);
  impl_->keep_step(step);
  for (const std::uint32_t slot : slots) {
    if (slot < impl_->training.slots && impl_->find(step, slot) == impl_->entries.end()) {
      Entry& entry = impl_->entries.emplace_back();
      entry.step = step;
      entry.slot = slot;
    }
  }
  impl_->work.notify_all();
}

SlotExamples Pipeline::take(std::uint64_t step, std::uint32_t slot) {
  if (slot >= impl_->training.slots) {
    throw std::out_of_range("slot " + std::to_string(slot) + " of a step with " +
                            std::to_string(impl_->training.slots) + " slots");
  }
  std::unique_lock lock(impl_->mutex);
  const auto entry = impl_->find(step, slot);
  if (entry == impl_->entries.end() || entry->stage == Stage::queued) {
    if (entry != impl_->entries.end()) {
      impl_->entries.erase(entry);
    }
    lock.unlock();
    return impl_->read(step, slot);
  }
  impl_->finished.wait(lock, [&] { return entry->stage == Stage::ready; });
  SlotExamples examples = std::move(entry->examples);
  const std::exception_ptr error = entry->error;
  impl_->entries.erase(entry);
  impl_->work.notify_one();
  if (error) {
    std::rethrow_exception(error);
  }
  return examples;
}

}  // namespace ballast
