#include "cli/rendering/compose.h"

#include <string>
#include <vector>

#include "common/command/usage_error.h"
#include "common/keys/key_file.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

// Seconds beyond cluster.patience: a worker that gives its lead up is not started again, for it ends with 0.
constexpr std::uint32_t kMorePatience = 300;
constexpr auto* kRestart = "on-failure:20";  // what would fail again for ever comes to an end

std::string server_host(std::uint32_t shard) { return "server-" + std::to_string(shard); }
std::string database_volume(std::uint32_t shard) { return "shard-" + std::to_string(shard); }

// A volume for each role: who computes has no key of a server. Compose's own secrets are files of this machine, with
// their owner and mode: what only he may read the containers' user cannot, and what that can read everybody here may.
constexpr auto* kServerKeys = "keys-server";
constexpr auto* kWorkerKeys = "keys-worker";
constexpr auto* kOperatorKeys = "keys-operator";
constexpr std::uint64_t kKeygenBytes = 256ULL << 20;
constexpr auto* kRunsVolume = "runs";  // what the command line makes

// The list of allowed keys comes last: where it is, all are.
constexpr auto* kMakeKeys =
    "test -e /keyring/server/allowed.keys || { ballast keygen /tmp/keys >/dev/null && cp /tmp/keys/operator.key "
    "/keyring/operator/ && cp /tmp/keys/worker.key /keyring/worker/ && cp /tmp/keys/server.key /keyring/server/ && cp "
    "/tmp/keys/allowed.keys /keyring/server/allowed.new && sync -f /keyring/server/allowed.new && mv "
    "/keyring/server/allowed.new /keyring/server/allowed.keys; }";

// The page is published to this machine alone, which takes a network that is not internal. No address of this machine
// stands before what leaves it, so that nobody answers but who has a way to the container's own.
constexpr auto* kPageNetwork = "page";
constexpr auto* kNoWayOut = "com.docker.network.bridge.enable_ip_masquerade";

std::uint32_t lead_patience(const RenderedJob& rendered) { return rendered.job.spec.cluster.patience + kMorePatience; }

Json healthcheck(const std::string& program) {
  return {{"test", {"CMD", program, "--health", kOwnMetrics}},
          {"interval", std::to_string(kProbePeriod) + "s"},
          {"timeout", std::to_string(kProbeTimeout) + "s"},
          {"retries", 3},
          {"start_period", "60s"}};
}

// What is in all containers. One that ends with 0 has seen the job's end, or was told to end by `docker compose stop`:
// neither is started again.
Json compose_service(const std::string& image, const std::vector<std::string>& command, const GrantedMemory& memory,
                     std::uint32_t grace) {
  return {{"image", image},
          {"command", command},
          {"restart", kRestart},
          {"stop_grace_period", std::to_string(grace) + "s"},
          {"user", std::to_string(kImageUser) + ":" + std::to_string(kImageUser)},
          {"read_only", true},
          {"tmpfs", Json::array({"/tmp"})},
          {"cap_drop", Json::array({"ALL"})},
          {"security_opt", Json::array({"no-new-privileges:true"})},
          {"mem_reservation", memory.request},
          {"mem_limit", memory.limit},
          {"networks", Json::array({"job"})}};
}

std::string job_mounted() { return "./job.yaml:" + std::string(kJobFolder) + "/job.yaml:ro"; }

std::string keys_mounted(const std::string& volume) { return volume + ":" + kKeysFolder + ":ro"; }

// Of servers, and of who restores. The folder, not the file: a file that is replaced would stay the old one.
void mount_keys_of_copies(const RenderedJob& rendered, Json& service) {
  if (rendered.encrypts_copies()) {
    service["volumes"].push_back(rendered.options.copy_key + ":" + kCopyKeyFolder + ":ro");
  }
  if (rendered.has_s3_credentials()) {
    service["volumes"].push_back(rendered.options.s3_credentials + ":" + kS3CredentialsFolder + ":ro");
  }
}

Json after_keys() { return {{"keys", {{"condition", "service_completed_successfully"}}}}; }

Json shard_service_of_compose(const RenderedJob& rendered, std::uint32_t shard) {
  auto server =
      compose_service(rendered.image("server"),
                      rendered.server_arguments(shard, server_host(0), server_host(shard), lead_patience(rendered)),
                      rendered.sizes.server, rendered.server_grace());
  server["healthcheck"] = healthcheck("ballast-server");
  server["depends_on"] = after_keys();
  server["volumes"] =
      Json::array({job_mounted(), keys_mounted(kServerKeys), database_volume(shard) + ":" + kServerFolder});
  if (rendered.copies_to_folder()) {
    server["volumes"].push_back(rendered.options.copies + ":" + rendered.job.spec.durability.copy_to);
  }
  if (rendered.copies_to_bucket() && !rendered.has_s3_credentials()) {
    server["environment"] = Json(kBucketKeys);  // of the shell's
  }
  mount_keys_of_copies(rendered, server);
  if (!rendered.options.initial.empty()) {
    server["volumes"].push_back(rendered.options.initial + ":" + kInitialFolder + ":ro");
  }
  return server;
}

Json worker_service_of_compose(const RenderedJob& rendered) {
  auto worker =
      compose_service(rendered.worker_image(), rendered.worker_arguments(server_host(0), lead_patience(rendered)),
                      rendered.sizes.worker, RenderedJob::worker_grace());
  worker["scale"] = rendered.workers();
  worker["healthcheck"] = healthcheck("ballast-worker");
  worker["depends_on"] = after_keys();
  worker["volumes"] = Json::array({keys_mounted(kWorkerKeys)});
  if (rendered.has_data()) {
    worker["volumes"].push_back(rendered.options.data + ":" + kDataFolder + ":ro");
  }
  if (rendered.options.gpus > 0) {
    const Json device = {
        {"driver", "nvidia"}, {"count", rendered.options.gpus}, {"capabilities", Json::array({"gpu"})}};
    worker["deploy"]["resources"]["reservations"]["devices"] = Json::array({device});
  }
  return worker;
}

// Makes the keys that are not there yet, and ends.
Json keys_service(const RenderedJob& rendered) {
  auto keys = compose_service(rendered.image("cli"), {kMakeKeys}, {kKeygenBytes, kKeygenBytes}, kGraceReserve);
  keys["entrypoint"] = Json::array({"sh", "-c"});
  keys["restart"] = "no";
  keys["volumes"] =
      Json::array({std::string(kServerKeys) + ":/keyring/server", std::string(kWorkerKeys) + ":/keyring/worker",
                   std::string(kOperatorKeys) + ":/keyring/operator"});
  keys.erase("networks");
  keys["network_mode"] = "none";
  return keys;
}

// The command line in the job's network, for who calls it by `docker compose run`.
Json operator_service(const RenderedJob& rendered) {
  const std::vector<std::string> watch = {"watch", "tcp://" + server_host(0) + ":" + std::to_string(kLeadPort),
                                          std::string("--keys=") + kKeysFolder + "/" + kOperatorKeyFile};
  auto service = compose_service(rendered.image("cli"), watch, rendered.sizes.worker, kGraceReserve);
  service["restart"] = "no";
  service["profiles"] = Json::array({"tools"});
  service["volumes"] =
      Json::array({job_mounted(), keys_mounted(kOperatorKeys), std::string(kRunsVolume) + ":" + kServerFolder});
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    service["volumes"].push_back(database_volume(shard) + ":/shards/" + std::to_string(shard));
  }
  if (rendered.copies_to_folder()) {
    service["volumes"].push_back(rendered.options.copies + ":" + rendered.job.spec.durability.copy_to);
  }
  mount_keys_of_copies(rendered, service);
  return service;
}

}  // namespace

Json compose_file(const RenderedJob& rendered) {
  Json file;
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    file["services"][server_host(shard)] = shard_service_of_compose(rendered, shard);
  }
  file["services"]["worker"] = worker_service_of_compose(rendered);
  file["services"]["keys"] = keys_service(rendered);
  file["services"]["ballast"] = operator_service(rendered);
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    file["volumes"][database_volume(shard)] = Json::object();
  }
  for (const auto* volume : {kServerKeys, kWorkerKeys, kOperatorKeys, kRunsVolume}) {
    file["volumes"][volume] = Json::object();
  }
  // Keys keep strangers out of the job; that it has no way to or from outside, unless copies go there, is a second
  // wall, and the only one before metrics.
  file["networks"]["job"]["internal"] = !rendered.copies_to_bucket();
  return file;
}

Json compose_page_file(const RenderedJob& rendered) {
  const auto port = std::to_string(kPagePort);
  const auto of_job = shard_service_of_compose(rendered, 0);
  Json file;
  auto& server = file["services"][server_host(0)];
  server["command"] = of_job["command"];
  server["command"].push_back("--page=0.0.0.0:" + port);
  server["ports"] = Json::array({"127.0.0.1:${PAGE_PORT:-" + port + "}:" + port});
  server["networks"] = of_job["networks"];
  server["networks"].push_back(kPageNetwork);
  file["networks"][kPageNetwork]["driver_opts"][kNoWayOut] = "false";
  return file;
}

}  // namespace ballast
