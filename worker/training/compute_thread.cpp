#include "worker/training/compute_thread.h"

#include <exception>
#include <utility>

#include "common/net/clock.h"
#include "worker/compute/module.h"
#include "worker/data/failures.h"

namespace ballast {

ComputeThread::ComputeThread(const Job& job, std::string data_path, MakeBackend make_backend, Post post,
                             const PlannedDelays& delays, std::shared_ptr<TraceRing> trace, bool measures_norms)
    : arena_(job.arena),
      post_(std::move(post)),
      weights_(job.arena.elements),
      pool_(job.arena, gradient_arenas(job.spec.training.slots)),
      trace_(std::move(trace)),
      norms_(measures_norms ? std::make_unique<GradientNorms>(job.arena) : nullptr),
      trainer_(job, std::move(data_path), std::move(make_backend), pool_, post_, delays, trace_, norms_.get()),
      thread_([this] { run(); }) {}

ComputeThread::~ComputeThread() {
  close();
  thread_.join();
}

void ComputeThread::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  pool_.close();
  wake_.notify_all();
}

void ComputeThread::store(ChunkId chunk, std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          Step step) {
  {
    const std::scoped_lock lock(mutex_);
    arriving_.put({chunk, bytes, std::move(owner), step});
    if (!arriving_.are_many()) {
      return;
    }
  }
  wake_.notify_all();
}

void ComputeThread::hand(std::optional<Evaluation> evaluation) {
  {
    const std::scoped_lock lock(mutex_);
    task_ = Task{evaluation, {weights_.values(), arriving_.stored()}};
  }
  wake_.notify_all();
}

void ComputeThread::compute(const TrainingTask& task) {
  trainer_.begin(task);
  hand(std::nullopt);
}
void ComputeThread::evaluate(const Evaluation& evaluation) { hand(evaluation); }

void ComputeThread::run() {
  try {
    post_(trainer_.prepare(weights_.values()));
    work();
  } catch (const BackendUnavailable& error) {
    post_(worker::Failed{error.what(), true});
  } catch (const BadData& error) {
    post_(worker::Failed{error.what(), true, true});
  } catch (const std::exception& error) {
    post_(worker::Failed{error.what()});
  }
  // Here, as on every call: to another thread the GPU that the model computes on is not the current one.
  trainer_.end();
}

void ComputeThread::write_all(std::vector<ArrivedChunk> chunks) {
  if (chunks.empty()) {
    return;
  }
  TraceRecord record{.step = chunks.back().step, .first = monotonic_micros(), .kind = TraceKind::weights};
  write(arena_, std::move(chunks), weights_.values());
  record.second = monotonic_micros();
  trace_->add(record);
}

void ComputeThread::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return closed_ || task_ || arriving_.are_many(); });
    if (closed_) {
      return;
    }
    auto chunks = arriving_.take();
    const auto task = std::exchange(task_, std::nullopt);
    lock.unlock();
    write_all(std::move(chunks));
    if (!task) {
      continue;
    }
    if (task->evaluation) {
      trainer_.evaluate(*task->evaluation, task->weights);
    } else {
      trainer_.train(task->weights);
    }
  }
}

}  // namespace ballast
