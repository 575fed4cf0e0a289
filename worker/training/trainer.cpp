#include "worker/training/trainer.h"

#include <algorithm>
#include <utility>

#include "common/job/evaluation_metrics.h"
#include "common/job/model_graph.h"
#include "worker/data/failures.h"
#include "worker/data/job_data.h"
#include "worker/training/evaluate.h"
#include "worker/training/fingerprint.h"
#include "worker/training/gradient_fault.h"
#include "worker/training/micro_batches.h"

namespace ballast {

namespace {

// As monotonic_micros() has it.
Micros micros_of(std::chrono::steady_clock::time_point moment) {
  return static_cast<Micros>(std::chrono::duration_cast<std::chrono::microseconds>(moment.time_since_epoch()).count());
}

Micros now() { return micros_of(std::chrono::steady_clock::now()); }

}  // namespace

Trainer::Trainer(const Job& job, std::string data_path, MakeBackend make_backend, GradientPool& pool, Post post,
                 PlannedDelays delays, std::shared_ptr<TraceRing> trace, GradientNorms* norms)
    : job_(job),
      data_path_(std::move(data_path)),
      make_backend_(std::move(make_backend)),
      pool_(pool),
      post_(std::move(post)),
      delays_(std::move(delays)),
      trace_(std::move(trace)),
      norms_(norms),
      countdown_(job.arena),
      each_slot_is_update_(is_item_mode(job.spec.training.mode)),
      metrics_(metric_rules(job.spec.model, job.shape)) {}

worker::Prepared Trainer::prepare(std::span<float> weights) {
  return prepare(weights, open_job_data(job_, data_path_));
}

worker::Prepared Trainer::prepare(std::span<float> weights, std::unique_ptr<Dataset> dataset) {
  dataset_ = std::move(dataset);
  auto read_ahead = read_ahead_of(job_.spec);
  read_ahead.has_read = [trace = trace_](Step step, Slot slot, auto begun, auto done) {
    trace->add({.step = step,
                .first = micros_of(begun),
                .second = micros_of(done),
                .slots = {slot, slot + 1},
                .kind = TraceKind::fetch});
  };
  if (!delays_.reading.empty()) {
    read_ahead.before_reading = [delays = delays_.reading](Step step, Slot slot) { wait_for(delays.at(step, slot)); };
  }
  pipeline_ = std::make_unique<Pipeline>(*dataset_, job_.spec.training, read_ahead);
  make_plain_model(weights);
  worker::Prepared prepared;
  prepared.layout.fingerprint = fingerprint(weights);
  prepared.layout.data_digest = reading_data([&] { return data_digest(*dataset_); });
  corrupt_examples_ = dataset_->corrupt();
  auto contributions = contributions_of(std::move(model_), job_);
  model_ = std::move(contributions.model);
  undone_ = contributions.undone;
  model_ = with_gradient_faults(std::move(model_), job_.arena, job_.spec.training.slots);
  model_ = with_delay(std::move(model_), delays_.slots);
  return prepared;
}

void Trainer::make_plain_model(std::span<float> weights) {
  model_ = make_model(job_.spec.model, job_.shape, job_.arena, [this] {
    auto backend = make_backend_();
    arithmetic_ = backend->arithmetic();
    return backend;
  });
  if (has_graph(job_.spec.model)) {
    model_ = with_micro_batches(std::move(model_), job_.arena, job_.spec.training.micro_batch);
  }
  model_->pin(weights);
  for (std::uint32_t arena = 0; arena < pool_.arenas(); ++arena) {
    model_->pin(pool_.values(arena));
  }
}

// Backend and precision by name, which say what differs and do so even where a probe does not show it.
std::string Trainer::fingerprint(std::span<float> weights) {
  const auto digest = arithmetic_digest(job_, *model_, weights);
  return arithmetic_.empty() ? digest : arithmetic_ + "-" + digest;
}

void Trainer::prefetch(Step step, const std::vector<SlotRange>& ranges) {
  std::vector<Slot> slots;
  for (const auto range : ranges) {
    for (Slot slot = range.begin; slot < range.end; ++slot) {
      slots.push_back(slot);
    }
  }
  pipeline_->prefetch(step, slots);
}

void Trainer::begin(const TrainingTask& task) {
  const auto leave = [this, step = task.step](ChunkId chunk, const PartialSum& sum, bool last) {
    post_(
        worker::GradientReady{step, sum.node, chunk, gradient_payload(job_.arena, sum.arena, chunk), sum.fault, last});
  };
  const std::scoped_lock lock(training_.mutex);
  training_.step = task.step;
  training_.sums = std::make_shared<SlotSums>(job_.arena, pool_, job_.spec.training.slots, task.ranges, leave,
                                              [this] { post_(worker::BufferWanted{}); });
}

void Trainer::become(const TrainingTask& task) {
  const std::scoped_lock lock(training_.mutex);
  if (training_.sums && training_.step == task.step) {
    training_.sums->become(task.ranges);
  }
}

void Trainer::train(const WeightArena& weights) {
  const auto [step, sums] = in_hand();
  PhaseTimes phases;
  while (const auto slot = sums->begin_slot()) {
    post_(worker::SlotBegun{step, *slot});
    train_slot(step, *slot, *sums, weights, phases);
  }
  if (!pool_.is_closed()) {
    const std::scoped_lock lock(training_.mutex);
    training_.sums.reset();
    post_(worker::Computed{step, phases});
  }
}

std::pair<Step, std::shared_ptr<SlotSums>> Trainer::in_hand() {
  const std::scoped_lock lock(training_.mutex);
  return {training_.step, training_.sums};
}

void Trainer::train_slot(Step step, Slot slot, SlotSums& sums, const WeightArena& weights, PhaseTimes& phases) {
  const auto begun = now();
  const auto examples = reading_data([&] { return pipeline_->take(step, slot); });
  const auto has_data = now();
  phases.data_wait += has_data - begun;
  corrupt_examples_ = dataset_->corrupt();

  countdown_.reset();
  const auto& training = job_.spec.training;
  const auto step_examples = examples_of_step(training, job_.sizes.train, step);
  // An update is the mean over its own examples.
  const auto counted = each_slot_is_update_ ? std::max(examples.batch().count, 1U) : step_examples;
  const SlotTask task{step, slot, counted, training.seed};
  const auto chunk_ready = [&](ChunkId chunk) { sums.chunk_ready(chunk); };
  const auto batch = model_->train(task, examples.batch(), weights, sums.leaf(),
                                   [&](std::size_t parameter) { countdown_.parameter_ready(parameter, chunk_ready); });
  const auto& statistics = job_.arena.statistics();
  auto values = sums.leaf().subspan(statistics.offset, statistics.elements);
  std::fill(values.begin(), values.end(), 0.0F);
  values[0] = static_cast<float>(batch.loss_sum / step_examples);
  values[1] = static_cast<float>(batch.correct);
  values[2] = static_cast<float>(batch.examples);
  chunk_ready(statistics.id);
  const auto& times = model_->last_times();
  phases.forward += times.forward_us;
  phases.backward += times.backward_us;
  trace_->add({.step = step,
               .first = begun,
               .second = has_data,
               .third = has_data + times.forward_us,
               .fourth = now(),
               .slots = {slot, slot + 1},
               .kind = TraceKind::slot});
  examples_ += batch.examples;
  // What was summed into others, or has left, lies here unchanged until the next slot begins.
  if (norms_ != nullptr && batch.examples > 0) {
    norms_->computed(sums.leaf(), undone_.of(counted, batch.examples),
                     std::chrono::microseconds(times.forward_us + times.backward_us));
  }
}

void Trainer::evaluate(const Evaluation& evaluation, const WeightArena& weights) {
  const auto split = evaluation.split == Split::test ? DataSplit::test : DataSplit::validation;
  auto sums = evaluate_examples(*model_, *dataset_, split, evaluation.begin, evaluation.end, weights,
                                MetricCounter(metrics_, job_.shape));
  corrupt_examples_ = dataset_->corrupt();
  post_(worker::Evaluated{{0, evaluation.split, evaluation.item, evaluation.version, sums.loss_sum, sums.correct,
                           sums.examples, std::move(sums.counted.counts), std::move(sums.counted.sums)}});
}

}  // namespace ballast
