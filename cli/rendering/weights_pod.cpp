// The pod that reads the weights of a job that has finished.
#include "cli/rendering/object_names.h"
#include "cli/rendering/pod_parts.h"
#include "cli/rendering/pods.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kReaderGrace = 30;
constexpr auto* kGatherFolder = "/gathered";  // an empty volume of the pod
constexpr auto* kExportFolder = "/weights";

std::string gathered_run() { return std::string(kGatherFolder) + "/run"; }

std::string mounted_shard(std::uint32_t shard) { return "/shards/" + std::to_string(shard); }

Json reader_container(const RenderedJob& rendered, const std::string& name, const std::vector<std::string>& arguments) {
  Json mounts = Json::array({temporary_mount(), mount_of("gathered", kGatherFolder, false)});
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    mounts.push_back(mount_of("shard-" + std::to_string(shard), mounted_shard(shard), false));
  }
  if (!rendered.options.weights_claim.empty()) {
    mounts.push_back(mount_of("weights", kExportFolder, false));
  }
  const auto memory = quantity_text(rendered.sizes.worker.limit);
  return {{"name", name},
          {"image", rendered.image("cli")},
          {"imagePullPolicy", "IfNotPresent"},
          {"args", arguments},
          {"resources", {{"requests", {{"cpu", "100m"}, {"memory", memory}}}, {"limits", {{"memory", memory}}}}},
          {"securityContext", container_security()},
          {"volumeMounts", mounts}};
}

std::vector<std::string> gather_arguments(const RenderedJob& rendered) {
  std::vector<std::string> arguments = {"gather", "--link", "--run-dir=" + gathered_run()};
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    arguments.push_back(mounted_shard(shard) + "/shard-" + std::to_string(shard));
  }
  return arguments;
}

}  // namespace

Json weights_template(const RenderedJob& rendered) {
  auto spec = pod_basis(kReaderGrace, {});
  spec["restartPolicy"] = "Never";
  spec["initContainers"] = Json::array({reader_container(rendered, "gather", gather_arguments(rendered))});
  if (!rendered.options.weights_claim.empty()) {
    spec["initContainers"].push_back(reader_container(
        rendered, "export",
        {"export", gathered_run(), "-o", std::string(kExportFolder) + "/" + rendered.name + ".safetensors"}));
  }
  spec["containers"] = Json::array({reader_container(rendered, "digest", {"digest", gathered_run()})});
  const Json gathered = {{"name", "gathered"}, {"emptyDir", Json::object()}};
  spec["volumes"] = Json::array({temporary_volume(), gathered});
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    spec["volumes"].push_back(
        volume_of_claim("shard-" + std::to_string(shard), shard_object_name(rendered.name, shard), false));
  }
  if (!rendered.options.weights_claim.empty()) {
    spec["volumes"].push_back(volume_of_claim("weights", rendered.options.weights_claim, false));
  }
  auto labels = job_labels(rendered);
  labels["app.kubernetes.io/component"] = "weights";
  return {{"metadata", {{"labels", labels}}}, {"spec", spec}};
}

}  // namespace ballast
