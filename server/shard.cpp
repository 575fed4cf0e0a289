#include "server/shard.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/log/log.h"
#include "common/metrics/series.h"
#include "common/net/random_id.h"

namespace ballast {

namespace {

void require_ok(const StoreStatus& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.text());
  }
}

// Whole or not at all: who waits for the file never reads half an address.
void write_address_file(const std::string& path, const std::string& address) {
  const auto temporary = path + ".new";
  std::ofstream out(temporary);
  out << address << '\n';
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw std::runtime_error("cannot write the address file " + path + ": " + std::strerror(errno));
  }
}

void check_bind(const std::string& address, bool insecure) {
  if (!is_local_address(address) && !insecure) {
    throw std::runtime_error(
        "refusing to listen on " + address +
        ": anybody who reaches it could read and write the model, and keys are not built yet; bind "
        "tcp://127.0.0.1:PORT or ipc://PATH, or pass --insecure on a network you trust");
  }
}

std::string lane_bind(const std::string& base, std::uint32_t lane) {
  return base.starts_with("ipc://") ? base + "-l" + std::to_string(lane) : base;
}

}  // namespace

Shard::Shard(const Job& job, const ServerOptions& options)
    : job_(job), options_(options), incarnation_(random_id()), metrics_(serve_metrics(options.metrics)) {
  if (options_.shard >= job.spec.cluster.shards) {
    throw std::runtime_error("--shard " + std::to_string(options_.shard) + ": the job has shards 0 to " +
                             std::to_string(job.spec.cluster.shards - 1));
  }
  describe_process(metrics_.get(), "shard", std::to_string(options_.shard), job.spec.job);
  open_database();
  if (options_.shard == 0) {
    make_lead();
  }
  make_lanes();
}

Shard::~Shard() {
  for (auto& lane : lanes_) {
    lane->close();
  }
  if (lead_) {
    lead_->close();
  }
  context_.close();
}

void Shard::open_database() {
  auto opened = open_rocksdb(options_.database, OpenMode::create);
  if (!opened.ok()) {
    throw std::runtime_error(opened.status().text());
  }
  store_ = std::make_unique<ShardStore>(std::move(opened.value()));
  require_ok(store_->claim({kDatabaseFormat, job_.spec.job, job_.spec_digest, job_.layout_digest, options_.shard,
                            job_.spec.cluster.shards, job_.yaml}));
  auto finished = store_->finished();
  if (!finished.ok()) {
    throw std::runtime_error(finished.status().text());
  }
  auto timeline = store_->timeline();
  if (!timeline.ok()) {
    throw std::runtime_error(timeline.status().text());
  }
  // Serving step 0 over what an earlier run reached would lose it.
  if (finished.value() || timeline.value()) {
    throw std::runtime_error(store_->path() + ": this database holds " +
                             (finished.value() ? "the finished job" : "an unfinished run of the job") +
                             "; resuming is not built yet: start in a new folder, or remove this one");
  }
  final_writer_ = std::make_unique<FinalWriter>(*store_, job_.spec.cluster.lanes);
}

LeadConfig Shard::lead_config() const {
  LeadConfig config;
  config.shards = job_.spec.cluster.shards;
  config.lanes = job_.spec.cluster.lanes;
  config.slots = job_.spec.training.slots;
  config.steps = job_.steps.steps;
  config.steps_per_epoch = job_.steps.steps_per_epoch;
  config.test_examples = job_.sizes.test;
  config.start_workers = job_.spec.cluster.start_workers;
  config.job = job_.yaml;
  config.spec_digest = job_.spec_digest;
  config.layout_digest = job_.layout_digest;
  const auto rate = static_cast<float>(job_.spec.training.optimizer.learning_rate);
  config.factors = [rate](Step) { return StepFactors{rate}; };
  return config;
}

void Shard::make_lead() {
  const auto& bind = options_.lead_bind.empty() ? options_.lead : options_.lead_bind;
  check_bind(bind, options_.insecure);
  lead_ = std::make_unique<LeadLoop>(context_, lead_config(), bind, options_.advertise, *store_, metrics_.get());
  if (!options_.address_file.empty()) {
    write_address_file(options_.address_file, lead_->address());
  }
  log_info("lead listens on {}", lead_->address());
}

LaneConfig Shard::lane_config(std::uint32_t lane) const {
  LaneConfig config;
  config.id = {options_.shard, lane};
  config.shards = job_.spec.cluster.shards;
  config.lanes = job_.spec.cluster.lanes;
  config.incarnation = incarnation_;
  config.slots = job_.spec.training.slots;
  config.steps = job_.steps.steps;
  const auto owners = place(job_.arena, config.shards, config.lanes);
  for (const auto& chunk : job_.arena.chunks) {
    if (owners[chunk.id].shard == options_.shard && owners[chunk.id].lane == lane) {
      config.chunks.push_back({chunk.id, chunk.bytes(), chunk.group == Group::statistics});
    }
  }
  config.spec_digest = job_.spec_digest;
  config.layout_digest = job_.layout_digest;
  return config;
}

void Shard::make_lanes() {
  check_bind(options_.bind, options_.insecure);
  const auto lead = lead_ ? lead_->address() : options_.lead;
  for (std::uint32_t lane = 0; lane < job_.spec.cluster.lanes; ++lane) {
    lanes_.push_back(std::make_unique<LaneLoop>(context_, job_, lane_config(lane), lane_bind(options_.bind, lane),
                                                options_.advertise, lead, *store_, *final_writer_, metrics_.get()));
    log_info("lane {} listens on {}", lane, lanes_.back()->address());
  }
}

std::string Shard::run() {
  std::vector<std::jthread> threads;
  const auto start = [&](auto* loop) {
    threads.emplace_back([this, loop] {
      try {
        ended(loop->run());
      } catch (const std::exception& error) {
        ended(error.what());
      }
    });
  };
  for (auto& lane : lanes_) {
    start(lane.get());
  }
  if (lead_) {
    start(lead_.get());
  }
  threads.clear();
  const std::scoped_lock lock(mutex_);
  return failure_;
}

void Shard::ended(const std::string& failure) {
  if (failure.empty()) {
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (failure_.empty()) {
      failure_ = failure;
    }
  }
  // The lead goes on for its linger, to tell the others what happened.
  final_writer_->cancel();
  for (auto& lane : lanes_) {
    lane->interrupt(failure);
  }
}

void Shard::interrupt(const std::string& reason) {
  ended(reason);
  if (lead_) {
    lead_->interrupt(reason);
  }
}

}  // namespace ballast
