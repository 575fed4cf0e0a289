#include "worker/worker_loop.h"

#include <exception>
#include <utility>
#include <variant>

#include "common/job/steps.h"
#include "common/log/log.h"
#include "common/machine/machine_id.h"
#include "common/net/clock.h"
#include "common/net/random_id.h"
#include "worker/compute/choose.h"
#include "worker/data/datasets.h"
#include "worker/training/delay.h"
#include "worker/welcome.h"

namespace ballast {

namespace {

constexpr Micros kTick = 20'000;
constexpr int kMessagesPerTurn = 64;

WorkerConfig core_config(const WorkerSpec& spec) {
  WorkerConfig config;
  config.name = spec.name;
  return config;
}

// On the compute thread: starting a GPU takes its time.
std::unique_ptr<Backend> make_watched_backend(const BackendRequest& request, WorkerMetrics& metrics) {
  auto backend = make_backend(request, find_cuda_files(), [](const std::string& text) { log_info("{}", text); });
  if (!backend->bus_id().empty()) {
    metrics.watch_gpu(backend->bus_id());
  }
  return backend;
}

}  // namespace

WorkerLoop::WorkerLoop(const WorkerSpec& spec, std::optional<Fault> fault, Metrics* metrics, Micros lead_patience)
    : WorkerLoop(spec, fault, metrics, lead_patience, random_id()) {}

WorkerLoop::WorkerLoop(const WorkerSpec& spec, std::optional<Fault> fault, Metrics* metrics, Micros lead_patience,
                       SessionId session)
    : spec_(spec),
      lead_patience_(lead_patience),
      death_(fault),
      account_(Account::from_environment()),
      metrics_(metrics),
      trace_({bytes_of_mbit(spec.link_mbit), machine_id()}),
      keys_(spec.keys.empty() ? nullptr : std::make_unique<ClientKeys>(spec.keys)),
      lead_(spec.lead, session, keys_.get()),
      lanes_(session, keys_.get()),
      core_(core_config(spec)),
      ticks_(kTick) {
  rebuild_poll();
}

WorkerLoop::~WorkerLoop() {
  computation_.close();
  lead_.close();
  lanes_.close();
}

void WorkerLoop::rebuild_poll() {
  poll_ = std::make_unique<Poll>();
  lead_.add_to(*poll_);
  poll_->add(computed_.fd());
  poll_->add(releases_.fd());
  poll_->add(interrupts_.fd());
  lanes_.add_to(*poll_);
}

WorkerLoop::Ending WorkerLoop::run() {
  lead_.begin(monotonic_micros());
  while (!ending_) {
    turn();
  }
  return *ending_;
}

void WorkerLoop::turn() {
  poll_->wait(ticks_.until(monotonic_micros()));
  turn_.begin(monotonic_micros());
  receive_from_lead();
  receive_from_lanes();
  for (auto& event : computed_.take()) {
    on_compute(std::move(event));
  }
  for (const auto& released : releases_.take()) {
    trace_.taken(released.object, released.at);
    computation_.let_go(released.object);
  }
  for (auto& reason : interrupts_.take()) {
    feed(worker::Drain{std::move(reason)});
  }
  if (const auto now = monotonic_micros(); ticks_.take(now)) {
    tick(now);
  }
  metrics_.turn(monotonic_micros() - turn_.began());
}

void WorkerLoop::tick(Micros now) {
  for (const auto lane : lanes_.tick(now)) {
    feed(worker::ConnectionOver{lane});
  }
  feed(worker::Tick{now});
  metrics_.update(core_, computation_);
  if (const auto unreachable = lead_.tick(core_, now, lanes_.per_shard())) {
    feed(*unreachable);
  }
  look_at_the_lead();
  look_at_links(now);
  tell_held_lines();
}

// A worker that is started when its job is over would look for the lead for ever.
void WorkerLoop::look_at_the_lead() {
  const auto silence = lead_.silence();
  metrics_.lead_silence(silence);
  if (lead_patience_ > 0 && silence >= lead_patience_ && !ending_) {
    outwaited_ = true;
    ending_ = Ending{};
  }
}

void WorkerLoop::look_at_links(Micros now) {
  if (!trace_.wants_links(now)) {
    return;
  }
  trace_.line(now);
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    if (const auto info = lanes_.link(lane)) {
      trace_.link(lane, *info, now);
    }
  }
}

// A turn that ends before all lanes were heard is followed by one that begins where it ended.
void WorkerLoop::receive_from_lanes() {
  for (std::uint32_t heard = 0; heard < lanes_.size() && !ending_ && (heard == 0 || !turn_.over()); ++heard) {
    receive_from_lane(lanes_.next());
  }
  if (const auto& why = lanes_.hopeless(); why && !ending_) {
    feed(worker::Failed{*why, true});
  }
}

void WorkerLoop::receive_from_lead() {
  for (int i = 0; i < kMessagesPerTurn && !ending_; ++i) {
    const auto received = lead_.receive();
    if (!received) {
      break;
    }
    const auto* message = std::get_if<Message>(&*received);
    if (const auto* asked = message == nullptr ? nullptr : std::get_if<TraceAsked>(message)) {
      answer(*asked);
    } else if (message != nullptr) {
      feed(worker::FromLead{message});
    }
  }
  if (const auto why = lead_.hopeless(); why && !ending_) {
    feed(worker::Failed{*why, true});
  }
}

void WorkerLoop::answer(const TraceAsked& asked) {
  auto part = trace_.part(asked);
  part.clock = lead_.clock(monotonic_micros());
  lead_.send(part);
}

void WorkerLoop::receive_from_lane(std::uint32_t lane) {
  for (int i = 0; i < kMessagesPerTurn && !ending_ && (i == 0 || !turn_.over()); ++i) {
    auto received = lanes_.receive(lane, turn_);
    if (!received) {
      return;
    }
    if (const auto* message = std::get_if<Message>(&received->decoded)) {
      receive(lane, *message, received->payload, received->decoded.clock.sent);
    }
  }
}

void WorkerLoop::receive(std::uint32_t lane, const Message& message, std::optional<Frame>& payload, Micros sent) {
  if (const auto* refused = std::get_if<Refused>(&message)) {
    log_debug("lane {} refused a message: {}", lane, refused->text);
  }
  if (account_) {
    account_->received(message);
  }
  if (const auto* receipt = std::get_if<Receipt>(&message);
      receipt != nullptr && death_.at_receipt(receipt->step) == PlannedDeath::Course::die) {
    die_now();
  }
  const auto bytes = payload ? payload->size() : 0;
  PayloadId id = kNoPayload;
  if (const auto* weights = std::get_if<Weights>(&message)) {
    if (!computation_.fits(weights->chunk, bytes)) {
      log_warn("lane {} sent chunk {} with {} bytes, which is not its size", lane, weights->chunk, bytes);
      return;
    }
    id = computation_.receive(std::move(*payload));
    trace_.arrived(lane, *weights, id, sent, monotonic_micros());
    exposed_.arrived(weights->chunk);
  }
  metrics_.received(bytes);
  if (std::holds_alternative<Gone>(message)) {
    exposed_.forget_weights();
  }
  feed(worker::FromLane{lane, &message, id});
}

void WorkerLoop::on_compute(worker::Event event) {
  if (auto* prepared = std::get_if<worker::Prepared>(&event)) {
    complete(prepared->layout, computation_.job(), lanes_.size() / lanes_.per_shard(), lanes_.per_shard());
    log_info("worker {} is ready; its data's digest is {}, its arithmetic's fingerprint {}", spec_.name,
             prepared->layout.data_digest, prepared->layout.fingerprint);
  } else if (const auto* gradient = std::get_if<worker::GradientReady>(&event)) {
    computation_.ready(gradient->payload);
    trace_.ready(*gradient, monotonic_micros());
    metrics_.ready(*gradient);
  }
  feed(event);
  if (std::holds_alternative<worker::Computed>(event)) {
    metrics_.update(core_, computation_);
  }
}

void WorkerLoop::feed(const worker::Event& event) {
  const auto now = monotonic_micros();
  for (const auto& action : core_.step(event, now)) {
    std::visit([this](const auto& body) { carry_out(body); }, action);
  }
  look_at_waits(event, now);
}

// It may look at every lane.
void WorkerLoop::look_at_waits(const worker::Event& event, Micros now) {
  if (!metrics_.is_read()) {
    return;
  }
  wants_buffer_ = core_.computing() && !std::holds_alternative<worker::SlotBegun>(event) &&
                  (wants_buffer_ || std::holds_alternative<worker::BufferWanted>(event));
  exposed_.waits(wants_buffer_ || (!core_.computing() && (exposed_.awaits_weights() || core_.outstanding() > 0)), now);
  metrics_.exposed(exposed_.total());
}

// ---- actions

void WorkerLoop::carry_out(const worker::SendToLead& action) { lead_.send(action.message); }

void WorkerLoop::carry_out(const worker::SendToLane& action) {
  if (const auto* contribution = std::get_if<Push>(&action.message)) {
    push(action, *contribution);
  } else {
    if (const auto* pull = std::get_if<Pull>(&action.message)) {
      trace_.asked(*pull, monotonic_micros());
      for (const auto chunk : pull->chunks) {
        exposed_.asked(chunk);
      }
    }
    lanes_.send(action.lane, action.message);
  }
}

void WorkerLoop::push(const worker::SendToLane& action, const Push& push) {
  const auto course = death_.before_push(push.step);
  if (course == PlannedDeath::Course::die) {
    die_now();
  }
  if (course == PlannedDeath::Course::keep) {
    return;
  }
  const auto values = computation_.send(action.payload, push.chunk);
  const auto bytes = values.size_bytes();
  metrics_.sent(bytes);
  if (account_) {
    account_->sent(push, std::as_bytes(values));
  }
  trace_.sent(action.lane, push, action.payload, bytes, monotonic_micros());
  if (push.want_next) {
    exposed_.asked(push.chunk);
  }
  lanes_.send(action.lane, action.message,
              Borrowed{values.data(), bytes, {0, action.payload, nullptr, bytes}, &releases_});
}

void WorkerLoop::carry_out(const worker::Prepare& action) {
  try {
    prepare(action.welcome);
  } catch (const std::exception& error) {
    computed_.put(worker::Failed{error.what()});
  }
}

void WorkerLoop::prepare(const WorkerWelcome& welcome) {
  auto job = job_of(welcome);
  metrics_.describe(spec_.name, job.spec.job);
  if (!spec_.data_path.empty() && !reads_files(job.spec.data)) {
    log_warn("the folder of data files {} is not used: the job's data set, {}, is generated", spec_.data_path,
             job.spec.data.name);
  }
  trace_.steps_have(updates_per_step(job.spec.training));
  check_lanes(welcome);
  lanes_.open(welcome.shards, welcome.lanes, job.spec.cluster);
  const BackendRequest request{spec_.backend, spec_.device, job.spec.training.threads_per_slot,
                               precision_named(job.spec.training.precision)};
  computation_.begin(
      std::move(job), spec_.data_path,
      [request, &metrics = metrics_] { return make_watched_backend(request, metrics); },
      [&computed = computed_](worker::Event event) { computed.put(std::move(event)); },
      delays_from_environment(spec_.name), trace_.ring(), metrics_.is_read());
}

void WorkerLoop::carry_out(const worker::Connect& action) {
  lanes_.connect(action.lane, action.address);
  rebuild_poll();
}

void WorkerLoop::carry_out(const worker::Prefetch& action) {
  computation_.thread().prefetch(action.step, action.ranges);
}

void WorkerLoop::carry_out(const worker::Store& action) {
  trace_.stored(action.payload, monotonic_micros());
  computation_.store(action.chunk, trace_.step_of(action.version), action.payload);
}

void WorkerLoop::carry_out(const worker::Release& action) {
  trace_.released(action.payload);
  computation_.release(action.payload);
}

void WorkerLoop::carry_out(const worker::Compute& action) {
  computation_.thread().compute({action.step, action.ranges});
}

void WorkerLoop::carry_out(const worker::Amend& action) { computation_.thread().become({action.step, action.ranges}); }

void WorkerLoop::carry_out(const worker::Evaluate& action) { computation_.thread().evaluate(action.evaluation); }

std::string WorkerLoop::farewell() const {
  if (outwaited_) {
    return "no lead was heard for " + std::to_string(lead_patience_ / 1'000'000) +
           " s (--lead-patience): the job is over, or --lead is not where its lead is";
  }
  if (core_.drains().empty()) {
    return "the job has finished, or was stopped";
  }
  return core_.drains() + (core_.has_delivered()
                               ? ": it has delivered what it had begun; the job goes on without it"
                               : ": not all that it had begun has arrived, and that is computed again");
}

void WorkerLoop::carry_out(const worker::Stop& action) { ending_ = {action.failure, action.for_good, action.of_data}; }

}  // namespace ballast
