#include "server/shard.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/arena/placement.h"
#include "common/command/usage_error.h"
#include "common/files/new_file.h"
#include "common/job/config_error.h"
#include "common/job/memory_budget.h"
#include "common/job/optimizer_settings.h"
#include "common/job/schema.h"
#include "common/job/trust_ratios.h"
#include "common/log/log.h"
#include "common/machine/memory.h"
#include "common/metrics/series.h"
#include "common/net/address.h"
#include "common/net/descriptors.h"
#include "common/net/random_id.h"
#include "common/net/unsent_replies.h"
#include "common/safetensors/initial_weights.h"
#include "common/wire/wire_limits.h"
#include "server/copy_fetcher.h"
#include "server/lead_config.h"

namespace ballast {

namespace {

// A worker names all of a lane's chunks in one pull: full ones, and the shorter ones at groups' ends.
static_assert(kMaxLaneFloats / (kMaxChunkBytes / sizeof(float)) + 1 + 2 * kMaxParameters <= wire::kMaxPullChunks);

static_assert(UnsentReplies::Room{}.own == kUnreadOfEach && UnsentReplies::Room{}.shared == kUnreadShared);

constexpr std::chrono::seconds kCleaningPatience{10};
constexpr std::chrono::milliseconds kCopyGlance{200};

// Whole or not at all: who waits for the file never reads half an address.
StoreStatus write_address_file(const std::string& path, const std::string& address) {
  const auto refused = write_whole(path, address + '\n');
  return refused
             ? StoreStatus{code_of(refused.value()), "cannot write the address file " + path + ": " + refused.message()}
             : StoreStatus{};
}

void require_safe_bind(const std::string& address, const ServerOptions& options) {
  if (!options.keys.empty() || options.insecure) {
    return;
  }
  if (is_abstract_address(address)) {
    throw UsageError("refusing to listen on " + address +
                     ": every user of this machine could connect, for such a name has no rights. Bind ipc://PATH in a "
                     "folder of your own, or pass --keys FOLDER (`ballast keygen` makes one), or --insecure on a "
                     "machine whose users you trust");
  }
  if (!is_local_address(address)) {
    throw UsageError("refusing to listen on " + address +
                     ": anybody who reaches it could read and write the model. Pass --keys FOLDER (`ballast keygen` "
                     "makes one), or bind tcp://127.0.0.1:PORT or ipc://PATH, or pass --insecure on a network you "
                     "trust");
  }
}

std::optional<ItemRules> item_rules(const JobSpec& spec) {
  const auto& training = spec.training;
  if (!is_item_mode(training.mode)) {
    return std::nullopt;
  }
  return ItemRules{training.mode == Mode::ssp ? training.staleness.bound : 0,
                   training.staleness.damping == StalenessSpec::Damping::inverse,
                   training.non_finite == NonFinite::skip, is_journaled(spec)};
}

// Of a chunk before its first update, whose weights are these.
std::vector<std::vector<float>> initial_states(const Job& job, const Chunk& chunk, std::span<const float> weights) {
  std::vector<std::vector<float>> states;
  if (is_descended(chunk.group)) {
    for (const auto& tensor : state_tensors(optimizer_settings(job.spec.training, chunk.group))) {
      states.emplace_back(chunk.elements, tensor.initial);
    }
    if (averages_weights(job.spec.training)) {
      states.emplace_back(weights.begin(), weights.end());
    }
  }
  return states;
}

// A worker that reaches the lead and not a lane would wait for it for ever.
void check_reach(const std::string& lead, const std::string& lane) {
  if (is_local_address(lane) && !is_local_address(lead) && !resolves_to_loopback(lead)) {
    throw std::runtime_error("lanes listen on " + lane + ", which only this machine reaches, and the lead is at " +
                             lead +
                             ", which others may reach: a worker elsewhere would wait for its weights for ever. Say "
                             "--bind tcp://HOST:* with an address of this machine that workers reach (and --insecure, "
                             "on a network you trust), or --advertise HOST if they are forwarded");
  }
}

std::string no_descriptor_text() {
  return "no file descriptor is free (" + std::to_string(descriptor_limit()) +
         " may be open): who wants to connect must wait; " + kDescriptorRemedy;
}

// The lead shares out slots by what it hears, and hears all lanes together twenty thousand times a second at most.
Micros lane_reports_apart(const ClusterSpec& cluster) {
  constexpr Micros kEach = 50;
  return std::clamp<Micros>(kEach * cluster.shards * cluster.lanes, 20'000, 50'000);
}

// Throws ConfigError where the reserves are more than there is.
std::vector<std::uint64_t> memory_of_lanes(const Job& job, const ServerOptions& options) {
  const auto number = options.shard;
  const auto machine = memory_here();
  if (const auto why = why_too_little_memory(job, number, machine)) {
    throw ConfigError(options.job + ": cluster.memory_mib: " + *why);
  }
  const auto shard = memory_of_shards(job).at(number);
  const auto bytes = server_bytes(job, shard, machine);
  log_info("memory of {} MiB, {} of it for contributions", bytes >> 20U, (bytes - shard.taken_bytes()) >> 20U);
  if (machine != 0 && bytes > machine) {
    log_warn(
        "{}: cluster.memory_mib is more than the {} MiB of this machine or control group: the kernel may end this "
        "server before it is used up",
        options.job, machine >> 20U);
  }
  return shard.divide(bytes).value();
}

}  // namespace

Shard::Shard(const Job& job, const ServerOptions& options)
    : job_(job),
      options_(options),
      incarnation_(random_id()),
      metrics_(serve_metrics(options.metrics)),
      process_series_(metrics_.get()),
      database_series_(metrics_.get()),
      tallies_(std::make_shared<WorkerTallies>(metrics_.get())),
      room_(metrics_.get()) {
  if (options_.shard >= job.spec.cluster.shards) {
    throw UsageError("--shard " + std::to_string(options_.shard) + ": the job has shards 0 to " +
                     std::to_string(job.spec.cluster.shards - 1));
  }
  // Before anything is made.
  memory_of_lanes_ = memory_of_lanes(job, options_);
  require_safe_bind(options_.bind, options_);
  if (options_.shard == 0) {
    require_safe_bind(options_.lead_bind.empty() ? options_.lead : options_.lead_bind, options_);
  }
  context_.set(zmq::ctxopt::io_threads, static_cast<int>(io_threads_of(job.spec.cluster)));  // before any socket
  if (!options_.keys.empty()) {
    if (options_.insecure) {
      log_warn("--insecure changes nothing beside --keys: who has no allowed key is refused");
    }
    keys_ = ServerKeys(context_, options_.keys);
  }
  if (options_.shard == 0 && !options_.page.empty()) {
    page_ = std::make_unique<Page>(options_.page);
    log_info("the job's page is at http://{}/", page_->address());
  }
  describe_process(metrics_.get(), "shard", std::to_string(options_.shard), job.spec.job);
}

Shard::~Shard() {
  readings_.reset();
  memory_.end();  // it asks the authenticator
  room_.close();
  doorkeeper_.reset();
  for (auto& lane : lanes_) {
    lane->close();
  }
  if (lead_) {
    lead_->close();
  }
  if (fetcher_) {
    fetcher_->close();
  }
  storage_.reset();  // what it waits for asks this object whether it is to go on
  fetcher_.reset();
  keys_ = {};  // its thread has a socket of the context
  context_.close();
}

// ---- start

void Shard::open_lanes() {
  bring_initial_weights();
  open_journal();
  const auto from_copies = [this](SnapshotId snapshot, const std::function<bool()>& wanted) {
    return fetch(snapshot, wanted);
  };
  storage_ = std::make_unique<ShardStorage>(*store_, journal_.get(), room_, incarnation_, job_.spec.cluster.lanes,
                                            fetcher_ ? ShardStorage::Fetch(from_copies) : ShardStorage::Fetch{});
  make_copier();
  make_lanes();
  if (fetcher_) {
    fetcher_->look();
  }
}

// Before anything is touched.
void Shard::check_addresses() const {
  const auto lane = advertised_address(lane_address(options_.bind, 0), options_.advertise);
  auto lead = options_.lead;
  if (options_.shard == 0) {
    lead = advertised_address(options_.lead_bind.empty() ? lead : options_.lead_bind, options_.advertise);
  }
  for (const auto& [who, address] : {std::pair("the lead listens", lead), std::pair("lanes listen", lane)}) {
    if (is_everywhere(address)) {
      throw std::runtime_error(
          std::string(who) + " on " + address +
          ", and this machine's name does not resolve: say by --advertise HOST how others reach it");
    }
  }
  check_reach(lead, lane);
}

// The same. A job whose workers come from elsewhere may declare fewer than there will be.
void Shard::count_descriptors() {
  const auto& cluster = job_.spec.cluster;
  const DescriptorUse use{descriptor_limit(), cluster.shards, cluster.lanes, options_.shard == 0, page_ != nullptr};
  if (const auto why = why_too_few(use, std::max(cluster.workers, cluster.start_workers)); !why.empty()) {
    throw std::runtime_error(why);
  }
  session_limit_ = session_limit(use);
  log_info("takes up to {} workers at once: {} files may be open, {} for each worker and {} besides",
           session_limit_.sessions, use.limit, session_limit_.each, session_limit_.beside);
  doorkeeper_ = std::make_unique<Doorkeeper>(kDescriptorReserve, [this](bool shut) { tell_gates(shut); });
}

SocketKeeping Shard::keep_socket() {
  return {memory_.open(), [this](const std::shared_ptr<Gate>& gate) { doorkeeper_->guard(gate); }};
}

void Shard::tell_gates(bool shut) {
  DiskSeries(metrics_.get()).connections_held_off->set(shut ? 1 : 0);
  if (shut) {
    log_warn("{}", no_descriptor_text());
  } else {
    log_info("there are free file descriptors again: who wants to connect may");
  }
}

// Retries while the disk is full; throws on any other error.
void Shard::require(const DiskRoom::Attempt& attempt) { throw_unless_ok(room_.await(attempt)); }

void Shard::open_database() {
  require([&] {
    auto opened = open_rocksdb(options_.database, OpenMode::create);
    if (!opened.ok()) {
      return opened.status();
    }
    store_ = std::make_unique<ShardStore>(std::move(opened.value()));
    return StoreStatus{};
  });
  require([&] {
    return store_->claim({kDatabaseFormat, job_.spec.job, job_.spec_digest, job_.layout_digest, options_.shard,
                          job_.spec.cluster.shards, job_.yaml});
  });
  found_.life = value_or_throw(room_.read([&] { return store_->begin_life(random_id()); }));
  log_info("database {:016x}, life {}", found_.life.database, found_.life.count);
  const auto timeline = value_or_throw(room_.read([&] { return store_->timeline(); }));
  found_.last_timeline = timeline ? timeline->number : 0;
  found_.has_finished = value_or_throw(room_.read([&] { return store_->finished(); })).has_value();
}

void Shard::bring_initial_weights() {
  found_.has_initial_snapshot = !job_.spec.training.init_from.empty();
  // A database that was restored from a copy has a later snapshot, and needs no file any more.
  const auto snapshots = value_or_throw(room_.read([&] { return store_->snapshots(); }));
  const bool has_begun = found_.last_timeline > 0 || (!snapshots.empty() && snapshots.back() != SnapshotId{});
  if (found_.has_initial_snapshot && !has_begun) {
    require([&] { return write_initial_weights(); });
    log_info("initial weights taken from {}, digest {}", job_.spec.training.init_from, found_.initial_weights);
  }
}

void Shard::open_journal() {
  if (is_journaled(job_.spec)) {
    journal_ = std::make_unique<ShardJournal>(job_, options_.database, options_.shard, incarnation_, metrics_.get());
    require([&] { return journal_->open([this] { return !is_ending(); }); });
    if (journal_->is_new() && found_.last_timeline > 0 && !found_.has_finished) {
      log_warn(
          "there is no journal in {}, though this shard has served timeline {}: the updates since the newest snapshot "
          "are "
          "not here, and the whole job goes back to it. If the folder was moved or its volume is missing, stop the "
          "job, put "
          "it back, and resume",
          journal_->folder().string(), found_.last_timeline);
    }
  }
}

// Nothing needs it any more: the weights are in the last snapshot, and the database says that it is the last.
void Shard::remove_journal() {
  if (!journal_) {
    return;
  }
  const auto end = room_.read([&] { return store_->finished(); });
  if (!end.ok() || !end.value()) {
    return;
  }
  const auto folder = journal_->folder();
  storage_.reset();
  journal_.reset();
  if (const auto removed = Journal::remove(folder); !removed.ok()) {
    log_warn("the job has finished and its journal is no longer needed, but stays: {}", removed.text());
  }
}

// As the snapshot of step 0, before anybody hears of this shard: the file is not needed again.
StoreStatus Shard::write_initial_weights() {
  const auto loaded = load_initial(job_.spec.training.init_from, job_.arena, drawn_seed(job_.spec.training));
  if (!loaded.ok()) {
    return loaded.status();
  }
  const Placement placement(job_.arena, job_.spec.cluster.shards, job_.spec.cluster.lanes);
  for (const auto& chunk : placement.of_model(options_.shard)) {
    if (is_ending()) {
      return {StoreCode::io, "the server ends before it has taken its initial weights"};
    }
    const auto weights = loaded.value().chunk(chunk.id);
    if (!weights.ok()) {
      return weights.status();
    }
    const auto states = initial_states(job_, chunk, weights.value());
    const std::vector<std::span<const float>> views(states.begin(), states.end());
    if (auto written = store_->write_chunk({}, chunk.id, weights.value(), views); !written.ok()) {
      return written;
    }
  }
  auto digest = loaded.value().digest([this] { return !is_ending(); });
  if (!digest.ok()) {
    return digest.status();
  }
  found_.initial_weights = digest.value();
  return store_->seal({});
}

void Shard::make_copier() {
  const auto& durability = job_.spec.durability;
  if (durability.copy_to.empty()) {
    return;
  }
  auto target = value_or_throw(open_copy_place(copy_target(durability, !durability.run.empty())));
  const Placement placement(job_.arena, job_.spec.cluster.shards, job_.spec.cluster.lanes);
  const CopierSettings settings{durability.keep, placement.of_model(options_.shard).size()};
  copier_ = std::make_unique<SnapshotCopier>(*store_, std::move(target), settings, CopySeries(metrics_.get()));
}

// Of a job that names its run. The lead's ledger comes first: without it there is no lead.
void Shard::make_fetcher() {
  if (named_run(job_.spec) == 0) {
    return;
  }
  fetcher_ = std::make_unique<CopyFetcher>(job_, options_.shard, *store_, room_);
  if (options_.shard == 0) {
    fetcher_->restore_ledger([this] { return !is_ending(); });
  }
}

StoreStatus Shard::fetch(SnapshotId snapshot, const std::function<bool()>& wanted) {
  return fetcher_->fetch(snapshot, [&] { return wanted() && !is_ending(); });
}

// The lead has waited for the last copy. What is of no use any more is still to be removed from the place.
void Shard::clean_copies() {
  const auto until = std::chrono::steady_clock::now() + kCleaningPatience;
  while (copier_ && !is_ending() && !copier_->drain(kCopyGlance)) {
    if (std::chrono::steady_clock::now() > until) {
      log_warn("leaves before old copies are removed, after {} s", kCleaningPatience.count());
      return;
    }
  }
}

void Shard::make_lead() {
  const auto& bind = options_.lead_bind.empty() ? options_.lead : options_.lead_bind;
  auto config = make_lead_config(job_, *store_, room_, found_.life);
  config.max_sessions = session_limit_.sessions;
  config.stay = Micros{options_.linger} * 1'000'000;
  auto lead = std::make_unique<LeadLoop>(context_, keys_, std::move(config), bind, options_.advertise, *store_, room_,
                                         metrics_.get(), keep_socket(), page_.get());
  doorkeeper_->guard(lead->gate());
  {
    const std::scoped_lock lock(mutex_);
    lead_ = std::move(lead);
    if (!failure_.empty()) {
      lead_->interrupt(failure_);  // whoever ended this server meanwhile found no lead
    }
  }
  if (!options_.address_file.empty()) {
    require([&] { return write_address_file(options_.address_file, lead_->address()); });
  }
  log_info("lead listens on {}", lead_->address());
}

std::vector<SnapshotId> Shard::held() {
  auto held = value_or_throw(room_.read([&] { return store_->sealed(); }));
  if (!found_.has_initial_snapshot && (held.empty() || held.front() != SnapshotId{})) {
    held.insert(held.begin(), SnapshotId{});  // drawn from the seed whenever it is wanted
  }
  return held;
}

LaneConfig Shard::lane_config(std::uint32_t lane) {
  LaneConfig config;
  config.id = {options_.shard, lane};
  config.shards = job_.spec.cluster.shards;
  config.lanes = job_.spec.cluster.lanes;
  config.report_every = lane_reports_apart(job_.spec.cluster);
  config.incarnation = incarnation_;
  config.database = found_.life;
  config.held = held();
  config.slots = job_.spec.training.slots;
  config.steps = job_.steps.steps;
  config.last_timeline = found_.last_timeline;
  config.items = item_rules(job_.spec);
  config.measures_updates = measures_updates(job_.spec.training);
  config.memory_bytes = memory_of_lanes_.at(lane);
  config.needs_whole_gradient = needs_whole_gradient(job_.spec.training);
  config.averages = averages_weights(job_.spec.training);
  if (journal_) {
    config.lives = journal_->lives(found_.last_timeline);
  }
  config.run = named_run(job_.spec);
  config.initial_weights = found_.initial_weights;
  config.max_sessions = session_limit_.sessions;
  config.lead_silence = Micros{job_.spec.cluster.patience} * 1'000'000;
  const auto& cluster = job_.spec.cluster;
  config.hold_patience = Micros{std::min(cluster.hold_patience, cluster.stop_patience)} * 1'000'000;
  const Placement placement(job_.arena, config.shards, config.lanes);
  for (const auto& chunk : placement.of_lane(options_.shard, lane)) {
    config.chunks.push_back({chunk.id, chunk.bytes(), chunk.group == Group::statistics});
  }
  config.kept_bytes = kept_of(config.chunks, averages_weights(job_.spec.training), job_.spec.cluster.workers);
  config.spec_digest = job_.spec_digest;
  config.layout_digest = job_.layout_digest;
  return config;
}

void Shard::make_lanes() {
  const auto lead = lead_ ? lead_->address_here() : options_.lead;
  const ShardServices services{*storage_,
                               journal_.get(),
                               copier_.get(),
                               fetcher_.get(),
                               found_.has_initial_snapshot,
                               [this] { return trouble(); },
                               [this](const lane::Leave& leave) { left(leave); },
                               tallies_};
  for (std::uint32_t lane = 0; lane < job_.spec.cluster.lanes; ++lane) {
    const LaneLoop::Addresses addresses{lane_address(options_.bind, lane), options_.advertise, lead,
                                        Micros{options_.lead_patience} * 1'000'000};
    lanes_.push_back(std::make_unique<LaneLoop>(context_, keys_, job_, lane_config(lane), addresses, services,
                                                metrics_.get(), keep_socket(), seen_by_page(lane)));
    doorkeeper_->guard(lanes_.back()->gate());
    log_info("lane {} listens on {}", lane, lanes_.back()->address());
  }
}

// By no loop: a database may let who asks wait.
void Shard::read_metrics() const {
  process_series_.read();
  const auto memory = store_->store().memory();
  database_series_.memtable_bytes->set(static_cast<double>(memory.written));
  database_series_.cache_bytes->set(static_cast<double>(memory.read));
  const auto work = store_->store().work();
  database_series_.compaction_bytes->set(static_cast<double>(work.compaction_bytes));
  database_series_.level0_files->set(static_cast<double>(work.level0_files));
  database_series_.slowed->raise_to(work.slowed_seconds);
  database_series_.stopped->raise_to(work.stopped_seconds);
  database_series_.errors->raise_to(static_cast<double>(work.errors));
}

// One lane of the lead's process speaks for all: whoever has a part in a step contributes to each.
Lateness* Shard::seen_by_page(std::uint32_t lane) const { return page_ && lane == 0 ? &page_->lateness() : nullptr; }

// What goes wrong while the job goes on, or waits.
std::string Shard::trouble() const {
  const auto busy = journal_ ? journal_->busy() : std::chrono::duration<double>{};
  room_.update_metrics(busy);
  if (auto trouble = room_.trouble(); !trouble.empty()) {
    return trouble;
  }
  if (auto trouble = DiskRoom::told_of("a write of the journal", busy); !trouble.empty()) {
    return trouble;
  }
  if (auto trouble = journal_ ? journal_->trouble() : std::string(); !trouble.empty()) {
    return trouble;
  }
  if (doorkeeper_->is_shut()) {
    return no_descriptor_text();
  }
  if (auto trouble = fetcher_ ? fetcher_->trouble() : std::string(); !trouble.empty()) {
    return trouble;
  }
  return copier_ ? copier_->trouble() : std::string();
}

// `name`: as the kernel shows what each of a server's threads costs; fifteen characters at most.
template <typename Loop>
std::jthread Shard::start(Loop& loop, const std::string& name) {
  return std::jthread([this, &loop, name] {
    ::pthread_setname_np(::pthread_self(), name.c_str());
    try {
      ended(loop.run());
    } catch (const std::exception& error) {
      // Without one of its loops a shard is of no use, and its lead must not wait for it.
      interrupt(error.what());
    }
    over(loop);
  });
}

std::string Shard::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

std::string Shard::run() {
  check_addresses();
  count_descriptors();
  std::vector<std::jthread> loops;
  try {
    if (!begin(loops)) {
      return failure();
    }
  } catch (const std::exception& error) {
    if (is_ending()) {
      return failure();  // that is why something could not be opened
    }
    interrupt(error.what());
    throw;
  }
  loops.clear();
  if (departure() == Departure::none) {
    clean_copies();
    remove_journal();
  }
  return failure();
}

// Opens everything and starts the loops. False: it was told to end before all of them ran.
bool Shard::begin(std::vector<std::jthread>& loops) {
  open_database();
  if (metrics_) {
    readings_ = std::make_unique<EachSecond>([this] { read_metrics(); });
  }
  make_fetcher();
  if (is_ending()) {
    return false;  // its lead is wanted by nobody
  }
  if (options_.shard == 0) {
    make_lead();
    loops.push_back(start(*lead_, "lead"));
  }
  open_lanes();
  {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    if (!failure_.empty()) {
      return false;
    }
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    loops.push_back(start(*lanes_[i], "lane " + std::to_string(i)));
  }
  memory_.count([this] { return store_->store().memory().total(); });
  memory_.begin(keys_.authenticator());
  return true;
}

bool Shard::is_ending() const { return !failure().empty(); }

void Shard::ended(const std::string& failure) {
  if (failure.empty()) {
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    if (failure_.empty()) {
      failure_ = failure;
    }
    if (!is_open_) {
      return;
    }
  }
  for (auto& lane : lanes_) {
    lane->interrupt(failure);
  }
  if (lead_) {
    lead_->give_up(failure);
  }
}

void Shard::interrupt(const std::string& reason) {
  ended(reason);
  room_.close();  // who waits for room finds the reason
  const std::scoped_lock lock(mutex_);
  if (lead_) {
    lead_->interrupt(reason);
  }
}

bool Shard::has_outlived_its_job() {
  if (std::none_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->has_lost_the_lead(); })) {
    return false;
  }
  const auto end = store_->finished();
  return end.ok() && end.value().has_value();
}

bool Shard::is_hopeless() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->is_hopeless(); });
}

}  // namespace ballast
