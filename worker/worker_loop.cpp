#include "worker/worker_loop.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "common/job/load.h"
#include "common/log/log.h"
#include "common/net/clock.h"
#include "common/net/descriptors.h"
#include "common/net/peer.h"
#include "common/net/random_id.h"
#include "worker/delay.h"

namespace ballast {

namespace {

constexpr Micros kTick = 20'000;
constexpr int kMessagesPerTurn = 64;
constexpr PayloadId kFirstWeights = PayloadId{1} << 48;  // gradients' payload ids are below

constexpr std::size_t kDescriptorsBeside = 64;  // lanes: data files, the log, metrics

WorkerConfig core_config(const WorkerSpec& spec) {
  WorkerConfig config;
  config.name = spec.name;
  return config;
}

// A socket has a descriptor by which it is woken, and one for its connection.
void check_descriptors(std::size_t lanes) {
  const auto needed = 2 * lanes + kDescriptorsBeside;
  if (const auto limit = descriptor_limit(); limit < needed) {
    throw std::runtime_error("the job has " + std::to_string(lanes) + " lanes, for which a worker needs " +
                             std::to_string(needed) + " files open at once, and this process may have " +
                             std::to_string(limit) + ": " + kDescriptorRemedy);
  }
}

}  // namespace

WorkerLoop::WorkerLoop(const WorkerSpec& spec, std::optional<Fault> fault, Metrics* metrics)
    : spec_(spec),
      fault_(fault),
      account_(Account::from_environment()),
      session_(random_id()),
      lead_(context_, session_routing_id(session_)),
      core_(core_config(spec)),
      metrics_sink_(metrics),
      metrics_(metrics),
      reach_(spec.lead),
      next_weights_(kFirstWeights) {
  lead_.connect(spec.lead);
  rebuild_poll();
}

WorkerLoop::~WorkerLoop() {
  if (compute_) {
    compute_->close();
  }
  lead_.close();
  for (auto& lane : lanes_) {
    if (lane) {
      lane->close();
    }
  }
  lanes_context_.close();
  context_.close();
}

void WorkerLoop::interrupt(std::string reason) { interrupts_.put(std::move(reason)); }

void WorkerLoop::rebuild_poll() {
  poll_ = std::make_unique<Poll>();
  poll_->add(lead_);
  poll_->add(computed_.fd());
  poll_->add(releases_.fd());
  poll_->add(interrupts_.fd());
  for (auto& lane : lanes_) {
    if (lane) {
      poll_->add(*lane);
    }
  }
}

WorkerLoop::Ending WorkerLoop::run() {
  reach_.begin(monotonic_micros());
  while (!stopped_) {
    turn();
  }
  return ending_;
}

void WorkerLoop::turn() {
  const auto now = monotonic_micros();
  poll_->wait(next_tick_ <= now ? 0 : static_cast<long>((next_tick_ - now + 999) / 1000));
  const auto begin = monotonic_micros();
  turn_.begin(begin);
  receive_from_lead();
  receive_from_lanes();
  for (auto& event : computed_.take()) {
    on_compute(std::move(event));
  }
  for (const auto& released : releases_.take()) {
    on_released(released);
  }
  for (auto& reason : interrupts_.take()) {
    feed(worker::Failed{std::move(reason)});
  }
  if (const auto tick = monotonic_micros(); tick >= next_tick_) {
    next_tick_ = tick + kTick;
    feed(worker::Tick{tick});
    metrics_.update(core_);
    if (const auto unreachable = reach_.tick(core_, tick, lanes_per_shard_)) {
      feed(*unreachable);
    }
    tell_held_lines();
  }
  metrics_.turn(monotonic_micros() - begin);
}

// A turn that ends before all lanes were heard is followed by one that begins where it ended.
void WorkerLoop::receive_from_lanes() {
  const auto lanes = static_cast<std::uint32_t>(lanes_.size());
  for (std::uint32_t heard = 0; heard < lanes && !stopped_ && (heard == 0 || !turn_.over()); ++heard) {
    receive_from_lane(first_lane_);
    first_lane_ = (first_lane_ + 1) % lanes;
  }
}

void WorkerLoop::receive_from_lead() {
  for (int i = 0; i < kMessagesPerTurn && !stopped_; ++i) {
    const auto received = lead_.receive();
    if (!received) {
      return;
    }
    const auto decoded = decode(received->header.bytes(), 0, received->payload.has_value());
    if (const auto* refused = std::get_if<Refused>(&decoded)) {
      log_warn("what answers at the lead's address {} cannot be read: {}", spec_.lead, refused->text);
      continue;
    }
    reach_.heard(std::get<Message>(decoded), monotonic_micros());
    feed(worker::FromLead{&std::get<Message>(decoded)});
  }
}

void WorkerLoop::receive_from_lane(std::uint32_t lane) {
  for (int i = 0; i < kMessagesPerTurn && !stopped_ && (i == 0 || !turn_.over()); ++i) {
    auto received = lanes_[lane] ? lanes_[lane]->receive() : std::nullopt;
    if (!received) {
      return;
    }
    const auto bytes = received->payload ? received->payload->size() : 0;
    turn_.spend(bytes);
    const auto decoded = decode(received->header.bytes(), bytes, received->payload.has_value());
    if (const auto* refused = std::get_if<Refused>(&decoded)) {
      log_warn("a message of lane {} cannot be read: {}", lane, refused->text);
      continue;
    }
    const auto& message = std::get<Message>(decoded);
    if (const auto* refused = std::get_if<Refused>(&message)) {
      log_debug("lane {} refused a message: {}", lane, refused->text);
    }
    if (account_) {
      account_->received(message);
    }
    strike_at_receipt(message);
    PayloadId payload = kNoPayload;
    if (const auto* weights = std::get_if<Weights>(&message)) {
      if (weights->chunk >= job_->arena.chunks.size() || bytes != job_->arena.chunks[weights->chunk].bytes()) {
        log_warn("lane {} sent chunk {} with {} bytes, which is not its size", lane, weights->chunk, bytes);
        continue;
      }
      payload = next_weights_++;
      weights_.emplace(payload, std::move(*received->payload));
    }
    metrics_.received(bytes);
    feed(worker::FromLane{lane, &message, payload});
  }
}

void WorkerLoop::on_compute(worker::Event event) {
  if (auto* prepared = std::get_if<worker::Prepared>(&event)) {
    complete(prepared->layout);
    log_info("worker {} is ready; its data's digest is {}, its arithmetic's fingerprint {}", spec_.name,
             prepared->layout.data_digest, prepared->layout.fingerprint);
  } else if (const auto* gradient = std::get_if<worker::GradientReady>(&event)) {
    gradients_[gradient->payload] = {};
  }
  feed(event);
  if (std::holds_alternative<worker::Computed>(event)) {
    metrics_.update(core_);
  }
}

void WorkerLoop::feed(const worker::Event& event) {
  for (const auto& action : core_.step(event, monotonic_micros())) {
    std::visit([this](const auto& body) { carry_out(body); }, action);
  }
}

// ---- actions

void WorkerLoop::carry_out(const worker::SendToLead& action) { lead_.send({}, encoder_.encode(action.message)); }

void WorkerLoop::carry_out(const worker::SendToLane& action) {
  auto& lane = *lanes_[action.lane];
  const auto* push = std::get_if<Push>(&action.message);
  if (push == nullptr) {
    lane.send({}, encoder_.encode(action.message));
    return;
  }
  if (strike_before_push(*push)) {
    return;
  }
  const auto& chunk = job_->arena.chunks[push->chunk];
  const auto values = compute_->gradients().values(compute_->arena_of(action.payload));
  ++gradients_[action.payload].sends;
  metrics_.sent(chunk.bytes());
  if (account_) {
    account_->sent(*push, std::as_bytes(values.subspan(chunk.offset, chunk.elements)));
  }
  lane.send(
      {}, encoder_.encode(action.message),
      Borrowed{values.data() + chunk.offset, chunk.bytes(), {0, action.payload, nullptr, chunk.bytes()}, &releases_});
}

void WorkerLoop::carry_out(const worker::Prepare& action) {
  try {
    prepare(action.welcome);
  } catch (const std::exception& error) {
    computed_.put(worker::Failed{error.what()});
  }
}

void WorkerLoop::prepare(const WorkerWelcome& welcome) {
  job_ = std::make_unique<Job>(make_job(parse_job(welcome.job, "the lead's job")));
  if (job_->spec_digest != welcome.spec_digest || job_->layout_digest != welcome.layout_digest) {
    throw std::runtime_error("this worker reads the lead's job as another one (digest " + job_->spec_digest +
                             " against " + welcome.spec_digest + "): run the same version of Ballast everywhere");
  }
  describe_process(metrics_sink_, "worker", spec_.name, job_->spec.job);
  if (!spec_.data_path.empty() && job_->spec.data.name != "mnist") {
    log_warn("the folder of data files {} is not used: the job's data set, {}, is generated", spec_.data_path,
             job_->spec.data.name);
  }
  lanes_context_.set(zmq::ctxopt::io_threads, static_cast<int>(io_threads_of(job_->spec.cluster)));
  lanes_per_shard_ = welcome.lanes;
  lanes_.resize(std::size_t{welcome.shards} * welcome.lanes);
  for (std::size_t i = 0; i < welcome.addresses.size(); ++i) {
    const LaneId expected{static_cast<std::uint32_t>(i / welcome.lanes), static_cast<std::uint32_t>(i % welcome.lanes)};
    if (welcome.addresses[i].lane != expected) {
      throw std::runtime_error("the lead's list of lanes is not in order");
    }
  }
  if (welcome.addresses.size() != lanes_.size()) {
    throw std::runtime_error("the lead's list of lanes is not complete");
  }
  check_descriptors(lanes_.size());
  const auto post = [this](worker::Event event) { computed_.put(std::move(event)); };
  const BackendRequest request{spec_.backend, spec_.device, job_->spec.training.threads_per_slot,
                               precision_named(job_->spec.training.precision)};
  compute_ = std::make_unique<ComputeThread>(
      *job_, spec_.data_path, [this, request] { return make_backend(request); }, post,
      delay_from_environment(spec_.name));
  gradients_.resize(1 + compute_->gradients().arenas() * job_->arena.chunks.size());
}

// On the compute thread: starting a GPU takes its time.
std::unique_ptr<Backend> WorkerLoop::make_backend(const BackendRequest& request) {
  auto backend =
      ballast::make_backend(request, find_cuda_files(), [](const std::string& text) { log_info("{}", text); });
  if (metrics_sink_ != nullptr && !backend->bus_id().empty()) {
    try {
      gpu_watch_ = std::make_unique<GpuWatch>(metrics_sink_, backend->bus_id());
    } catch (const std::exception& error) {
      log_warn("there will be no metrics of the GPU: {}", error.what());
    }
  }
  return backend;
}

// A new socket, for what was queued for a lane's earlier life must never reach anyone. Gradients that the old one still
// has are let go with it.
void WorkerLoop::carry_out(const worker::Connect& action) {
  auto& lane = lanes_[action.lane];
  if (lane) {
    lane->raw().set(zmq::sockopt::linger, 0);
    lane->close();
  }
  const auto buffer_bytes = static_cast<int>(job_->spec.cluster.socket_buffer_bytes);
  lane = std::make_unique<Dealer>(lanes_context_, session_routing_id(session_),
                                  SocketOptions{.buffer_bytes = buffer_bytes});
  lane->connect(action.address);
  rebuild_poll();
}

// With what the compute thread has no need to know.
void WorkerLoop::complete(WorkerLayout& layout) const {
  layout.slots = job_->spec.training.slots;
  layout.ledgered = is_ledgered(job_->spec.training.mode);
  layout.journaled = is_journaled(job_->spec);
  layout.lanes = static_cast<std::uint32_t>(lanes_.size());
  layout.spec_digest = job_->spec_digest;
  layout.layout_digest = job_->layout_digest;
  layout.lead_silence = Micros{job_->spec.cluster.patience} * 1'000'000;
  const auto shards = static_cast<std::uint32_t>(lanes_.size()) / lanes_per_shard_;
  const auto owners = place(job_->arena, shards, lanes_per_shard_);
  for (const auto& chunk : job_->arena.chunks) {
    layout.chunks.push_back(
        {chunk.id, owners[chunk.id].shard * lanes_per_shard_ + owners[chunk.id].lane, chunk.bytes()});
  }
}

void WorkerLoop::carry_out(const worker::Prefetch& action) { compute_->prefetch(action.step, action.ranges); }

void WorkerLoop::carry_out(const worker::Store& action) {
  auto frame = std::make_shared<const Frame>(std::move(weights_.extract(action.payload).mapped()));
  const auto bytes = frame->bytes();
  compute_->store(action.chunk, bytes, std::move(frame));
}

void WorkerLoop::carry_out(const worker::Release& action) {
  if (action.payload >= kFirstWeights) {
    weights_.erase(action.payload);
    return;
  }
  gradients_[action.payload].released = true;
  free_gradient(action.payload);
}

void WorkerLoop::on_released(const Released& released) {
  --gradients_[released.object].sends;
  free_gradient(released.object);
}

void WorkerLoop::free_gradient(PayloadId payload) {
  auto& state = gradients_[payload];
  if (state.released && state.sends == 0) {
    state.released = false;
    compute_->gradients().give_back_chunk(compute_->arena_of(payload));
  }
}

void WorkerLoop::carry_out(const worker::Compute& action) { compute_->compute(action.step, action.ranges); }
void WorkerLoop::carry_out(const worker::Evaluate& action) { compute_->evaluate(action.evaluation); }

void WorkerLoop::carry_out(const worker::Stop& action) {
  stopped_ = true;
  ending_ = {action.failure, action.for_good};
}

// ---- deaths on demand

bool WorkerLoop::strike_before_push(const Push& push) {
  if (!fault_ || push.step < fault_->step) {
    return false;
  }
  if (fault_->point == Fault::Point::before_push) {
    die_now();
  }
  // All but the first chunk stay here; its receipt then brings the end.
  return fault_->point == Fault::Point::between_chunks && std::exchange(pushed_at_fault_, true);
}

void WorkerLoop::strike_at_receipt(const Message& message) {
  const auto* receipt = std::get_if<Receipt>(&message);
  if (fault_ && receipt != nullptr && receipt->step >= fault_->step && fault_->point != Fault::Point::before_push) {
    die_now();
  }
}

}  // namespace ballast
