#include "cli/rendering/compose.h"

#include <string>
#include <vector>

#include "common/command/usage_error.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

// Seconds beyond cluster.patience: a worker that gives its lead up is not started again, for it ends with 0.
constexpr std::uint32_t kMorePatience = 300;
constexpr auto* kRestart = "on-failure:20";  // what would fail again for ever comes to an end

std::string server_host(std::uint32_t shard) { return "server-" + std::to_string(shard); }
std::string database_volume(std::uint32_t shard) { return "shard-" + std::to_string(shard); }

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

Json shard_service_of_compose(const RenderedJob& rendered, std::uint32_t shard) {
  auto server =
      compose_service(rendered.image("server"),
                      rendered.server_arguments(shard, server_host(0), server_host(shard), lead_patience(rendered)),
                      rendered.sizes.server, rendered.server_grace());
  server["healthcheck"] = healthcheck("ballast-server");
  server["volumes"] = Json::array(
      {"./job.yaml:" + std::string(kJobFolder) + "/job.yaml:ro", database_volume(shard) + ":" + kServerFolder});
  if (rendered.copies_to_folder()) {
    server["volumes"].push_back(rendered.options.copies + ":" + rendered.job.spec.durability.copy_to);
  }
  if (rendered.copies_to_bucket()) {
    server["environment"] = Json(kBucketKeys);  // of the shell's
  }
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
  if (rendered.has_data()) {
    worker["volumes"] = Json::array({rendered.options.data + ":" + kDataFolder + ":ro"});
  }
  if (rendered.options.gpus > 0) {
    const Json device = {
        {"driver", "nvidia"}, {"count", rendered.options.gpus}, {"capabilities", Json::array({"gpu"})}};
    worker["deploy"]["resources"]["reservations"]["devices"] = Json::array({device});
  }
  return worker;
}

}  // namespace

Json compose_file(const RenderedJob& rendered) {
  Json file;
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    file["services"][server_host(shard)] = shard_service_of_compose(rendered, shard);
  }
  file["services"]["worker"] = worker_service_of_compose(rendered);
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    file["volumes"][database_volume(shard)] = Json::object();
  }
  // Servers have no keys: whoever is in their network may do with the job what they like. It has no way to or from
  // outside, unless copies go there.
  file["networks"]["job"]["internal"] = !rendered.copies_to_bucket();
  return file;
}

}  // namespace ballast
