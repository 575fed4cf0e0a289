#include "cli/running/cluster.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "cli/asking/finished_run.h"
#include "cli/before/gpus.h"
#include "cli/keys/keygen.h"
#include "cli/processes/free_port.h"
#include "common/keys/key_file.h"

namespace ballast {

namespace {

constexpr const char* kLoopback = "tcp://127.0.0.1:*";
constexpr std::string_view kScheme = "http://";

std::string role_text(Role role) { return role == Role::server ? "server" : "worker"; }

void append(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

}  // namespace

std::string Member::name() const { return (role == Role::server ? "shard " : "worker ") + std::to_string(index); }

Cluster::Cluster(const Job& job, const RunFolder& folder, ClusterOptions options)
    : job_(job),
      folder_(folder),
      options_(std::move(options)),
      server_program_(find_program("ballast-server", "server")),
      worker_program_(find_program("ballast-worker", "worker")) {
  const auto& cluster = job.spec.cluster;
  if (cluster.transport == "ipc") {
    sockets_.emplace(folder.path(), cluster.shards, cluster.lanes);
  }
  if (options_.keys) {
    // Those of a run that was killed are of no use to anybody.
    std::filesystem::remove_all(keys_folder(folder.path()));
  }
  if (options_.keys && !sockets_) {
    keys_ = keys_folder(folder.path());
    make_keys(keys_, 0);
  }
  for (std::uint32_t shard = 0; shard < cluster.shards; ++shard) {
    members_.emplace_back().index = shard;
  }
  for (std::uint32_t worker = 0; worker < cluster.workers; ++worker) {
    auto& member = members_.emplace_back();
    member.role = Role::worker;
    member.index = worker;
  }
}

Cluster::~Cluster() {
  end();
  if (!keys_.empty()) {
    std::error_code left;
    std::filesystem::remove_all(keys_, left);
  }
}

void Cluster::end() {
  signal_all(SIGKILL);
  for (auto& member : members_) {
    if (member.pid != 0) {
      waitpid(member.pid, nullptr, 0);
      member.pid = 0;
    }
  }
}

void Cluster::start_lead() { start(members_.front()); }

std::optional<std::string> Cluster::lead_address() const {
  std::ifstream in(folder_.address_file());
  std::string address;
  if (!std::getline(in, address) || address.empty()) {
    return std::nullopt;
  }
  return address;
}

void Cluster::start_others(const std::string& lead) {
  lead_ = lead;
  members_.front().addresses["lead"] = lead;
  for (auto& member : members_) {
    if (member.pid == 0 && !member.due) {  // else it has died meanwhile, and is started again then
      start(member);
    }
  }
}

std::string Cluster::start_again(Member& member) {
  const auto restarts = member.restarts;
  member.restarts += member.fresh ? 0 : 1;
  try {
    start(member);
  } catch (const std::runtime_error& refused) {
    member.restarts = restarts;
    return refused.what();
  }
  member.due.reset();
  member.fresh = false;
  return {};
}

void Cluster::want_workers(std::uint32_t count, Clock::time_point now) {
  std::uint32_t there = 0;
  for (auto& member : members_) {
    if (member.role == Role::worker) {
      ++there;
      member.index < count ? take_in(member, now) : send_away(member);
    }
  }
  for (; there < count; ++there) {
    auto& member = members_.emplace_back();
    member.role = Role::worker;
    member.index = there;
    member.added = true;
    member.wanted = false;
    take_in(member, now);
  }
  write_list();
}

void Cluster::give_up(Member& worker, const std::string& why) {
  worker.wanted = false;
  worker.due.reset();
  worker.given_up_for = why;
  write_list();
}

// One that is still on its way out is started when it has gone.
void Cluster::take_in(Member& worker, Clock::time_point now) {
  if (worker.wanted) {
    return;
  }
  worker.wanted = true;
  worker.given_up_for.clear();
  worker.refusal.clear();
  worker.policy = {};
  worker.fresh = true;
  if (worker.pid == 0) {
    worker.due = now;
  }
}

void Cluster::send_away(Member& worker) {
  worker.wanted = false;
  worker.given_up_for.clear();
  worker.due.reset();
  if (worker.pid != 0 && !worker.told_to_go) {
    worker.told_to_go = true;
    signal_group(worker.pid, SIGTERM);
  }
}

void Cluster::start(Member& member) {
  member.pid = start_process(command_of(member));
  member.started = Clock::now();
  write_list();
}

// The same in all lives of the lead, for who looks at it, unless another process has taken the port meanwhile.
std::string Cluster::page_address() {
  if (page_port_ == 0 || !is_port_free(page_port_)) {
    page_port_ = free_port();
  }
  return "127.0.0.1:" + std::to_string(page_port_);
}

std::string Cluster::page() const {
  const auto& known = members_.front().addresses;
  const auto page = known.find("page");
  return page == known.end() ? std::string() : page->second;
}

Command Cluster::command_of(Member& member) {
  const bool server = member.role == Role::server;
  Command command;
  command.program = server ? server_program_ : worker_program_;
  command.arguments = server ? server_arguments(member) : worker_arguments(member);
  if (options_.metrics) {
    const auto address = "127.0.0.1:" + std::to_string(free_port());
    member.addresses["metrics"] = std::string(kScheme) + address + "/metrics";
    append(command.arguments, {"--metrics", address});
  }
  if (options_.page && server && member.index == 0) {
    const auto address = page_address();
    member.addresses["page"] = std::string(kScheme) + address + "/";
    append(command.arguments, {"--page", address});
  }
  // The processes share one machine's cores: threads that wait must not spin.
  command.environment = {"OMP_WAIT_POLICY=passive"};
  if (server) {
    command.environment.push_back("BALLAST_SERVER_FAULT=" + fault_of(member));
  }
  command.log = log_of(member);
  // The same file by its name, so that the process can put it aside when it is large.
  append(command.arguments, {"--log-file", command.log.string()});
  append(command.arguments, {"--unfinished-code", std::to_string(kExitUnfinished)});
  command.inherited = folder_.lock_fd();
  return command;
}

std::vector<std::string> Cluster::server_arguments(Member& member) const {
  const auto shard = std::to_string(member.index);
  const auto bind = sockets_ ? sockets_->shard_address(member.index) : kLoopback;
  member.addresses["lanes"] = bind;
  const auto database = folder_.path() / ("shard-" + shard);
  std::vector<std::string> arguments = {
      "--job", folder_.job_file().string(), "--shard", shard, "--bind", bind, "--database", database.string()};
  if (!keys_.empty()) {
    append(arguments, {"--keys", keys_.string()});
  }
  if (member.index == 0) {
    // In a later life the address of the first: nobody is told another.
    const auto first = sockets_ ? sockets_->lead_address() : kLoopback;
    append(arguments, {"--lead", lead_.empty() ? first : lead_, "--address-file", folder_.address_file().string()});
  } else {
    append(arguments, {"--lead", lead_});
  }
  return arguments;
}

// Empty: none in this life.
std::string Cluster::fault_of(const Member& server) const {
  const auto faults = options_.server_faults.find(server.index);
  return faults == options_.server_faults.end() || faults->second.size() <= server.restarts
             ? std::string()
             : faults->second[server.restarts];
}

std::vector<std::string> Cluster::worker_arguments(Member& member) const {
  std::vector<std::string> arguments = {"--lead", lead_, "--name", "worker-" + std::to_string(member.index)};
  if (!keys_.empty()) {
    append(arguments, {"--keys", (keys_ / "worker.key").string()});
  }
  const auto device = device_options(options_.backend, member.index, options_.gpus);
  arguments.insert(arguments.end(), device.begin(), device.end());
  const auto fault = options_.worker_faults.find(member.index);
  if (fault != options_.worker_faults.end() && member.restarts == 0) {
    append(arguments, {"--fault", fault->second});
  }
  return arguments;
}

void Cluster::watch_with(const std::filesystem::path& prometheus) { prometheus_.emplace(prometheus, folder_); }

Member* Cluster::ended(pid_t pid) {
  if (prometheus_ && prometheus_->pid() == pid) {
    prometheus_->ended();
  }
  const auto member =
      std::find_if(members_.begin(), members_.end(), [&](const Member& candidate) { return candidate.pid == pid; });
  if (member == members_.end()) {
    return nullptr;
  }
  member->pid = 0;
  write_list();
  return &*member;
}

void Cluster::signal_all(int signal) const {
  for (const auto& member : members_) {
    if (member.pid != 0) {
      signal_group(member.pid, signal);
    }
  }
}

std::size_t Cluster::live(Role role) const {
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [&](const Member& member) { return member.role == role && member.pid != 0; }));
}

bool Cluster::is_any_due() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.due.has_value(); });
}

std::uint32_t Cluster::restarts(Role role) const {
  std::uint32_t sum = 0;
  for (const auto& member : members_) {
    sum += member.role == role ? member.restarts : 0;
  }
  return sum;
}

std::filesystem::path Cluster::log_of(const Member& member) const {
  return folder_.log((member.role == Role::server ? "shard-" : "worker-") + std::to_string(member.index));
}

std::optional<bool> Cluster::has_finished() const { return holds_end(folder().string()); }

std::string Cluster::mend_list() {
  if (!list_refusal_.empty()) {
    write_list();
  }
  return list_refusal_;
}

void Cluster::write_list() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& member : members_) {
    if (!member.wanted && member.pid == 0) {
      continue;
    }
    nlohmann::ordered_json entry;
    entry["role"] = role_text(member.role);
    entry["index"] = member.index;
    entry["pid"] = member.pid != 0 ? nlohmann::ordered_json(member.pid) : nlohmann::ordered_json(nullptr);
    entry["addresses"] = member.addresses;
    entry["restarts"] = member.restarts;
    list.push_back(std::move(entry));
  }
  try {
    write_atomically(folder_.processes_file(), list.dump(2) + "\n");
    write_targets();
    list_refusal_.clear();
  } catch (const std::runtime_error& refused) {
    list_refusal_ = refused.what();
  }
}

// For Prometheus' file_sd_configs: who runs, and where it serves metrics. As dashboards/targets does for many runs.
void Cluster::write_targets() const {
  auto targets = nlohmann::ordered_json::array();
  for (const auto& member : members_) {
    const auto metrics = member.addresses.find("metrics");
    if (member.pid == 0 || metrics == member.addresses.end()) {
      continue;
    }
    const auto name = (member.role == Role::server ? "shard-" : "worker-") + std::to_string(member.index);
    const auto address = metrics->second.substr(kScheme.size(), metrics->second.rfind('/') - kScheme.size());
    targets.push_back(
        {{"targets", {address}}, {"labels", {{"job", folder_.path().filename().string()}, {"instance", name}}}});
  }
  if (options_.metrics) {
    write_atomically(folder_.path() / "targets.json",
                     targets.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
}

}  // namespace ballast
