#include "cli/rendering/pods.h"

#include "cli/rendering/object_names.h"
#include "cli/rendering/pod_parts.h"
#include "common/keys/key_file.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kAliveAfter = 6;  // probes that fail before a process is started again
constexpr std::uint32_t kStartAfter = 30;

constexpr auto* kLeadHost = "$(BALLAST_LEAD_HOST)";
constexpr auto* kOwnHost = "$(BALLAST_HOST)";

std::string host_of_service(const RenderedJob& rendered, std::uint32_t shard) {
  const auto service = shard_object_name(rendered.name, shard);
  return rendered.options.peers == PeerLookup::names ? service : service_host_variable(service);
}

Json env_variable(const std::string& name, const std::string& value) { return {{"name", name}, {"value", value}}; }

Json keys_of_bucket(const RenderedJob& rendered) {
  Json variables = Json::array();
  for (const auto* key : kBucketKeys) {
    variables.push_back(
        {{"name", key}, {"valueFrom", {{"secretKeyRef", {{"name", rendered.options.s3_secret}, {"key", key}}}}}});
  }
  return variables;
}

Json exec_probe(const std::string& program, const std::string& question, std::uint32_t failures) {
  return {{"exec", {{"command", {program, question, kOwnMetrics}}}},
          {"periodSeconds", kProbePeriod},
          {"timeoutSeconds", kProbeTimeout},
          {"failureThreshold", failures}};
}

void add_probes(Json& container, const std::string& program) {
  container["startupProbe"] = exec_probe(program, "--alive", kStartAfter);
  container["livenessProbe"] = exec_probe(program, "--alive", kAliveAfter);
  container["readinessProbe"] = exec_probe(program, "--health", 1);
}

// No limit of processors: one that is throttled would be what all others wait for.
Json granted_resources(const std::string& cpu, const GrantedMemory& memory) {
  return {{"requests", {{"cpu", cpu}, {"memory", quantity_text(memory.request)}}},
          {"limits", {{"memory", quantity_text(memory.limit)}}}};
}

Json container_port(const std::string& name, std::uint32_t number) {
  return {{"name", name}, {"containerPort", number}};
}

Json server_ports(const RenderedJob& rendered, std::uint32_t shard) {
  Json ports = Json::array();
  if (shard == 0) {
    ports.push_back(container_port("lead", kLeadPort));
  }
  for (std::uint32_t lane = 0; lane < rendered.lanes(); ++lane) {
    ports.push_back(container_port("lane-" + std::to_string(lane), kLanePort + lane));
  }
  ports.push_back(container_port("metrics", kMetricsPort));
  return ports;
}

Json server_container(const RenderedJob& rendered, std::uint32_t shard) {
  auto arguments = rendered.server_arguments(shard, kLeadHost, kOwnHost, kLeadPatience);
  arguments.push_back("--unfinished-code=" + std::to_string(kLeftEarly));
  if (shard == 0) {  // for who may forward a port of the pod, and for no other pod
    arguments.push_back("--page=127.0.0.1:" + std::to_string(kPagePort));
  }
  Json container = {{"name", "server"},
                    {"image", rendered.image("server")},
                    {"imagePullPolicy", "IfNotPresent"},
                    {"args", arguments},
                    {"env",
                     {env_variable("BALLAST_LEAD_HOST", host_of_service(rendered, 0)),
                      env_variable("BALLAST_HOST", host_of_service(rendered, shard))}},
                    {"ports", server_ports(rendered, shard)},
                    {"resources", granted_resources(rendered.options.server_cpu, rendered.sizes.server)}};
  if (!rendered.options.s3_secret.empty()) {
    for (const auto& key : keys_of_bucket(rendered)) {
      container["env"].push_back(key);
    }
  }
  add_probes(container, "ballast-server");
  container["securityContext"] = container_security();
  container["volumeMounts"] =
      Json::array({temporary_mount(), mount_of("job", kJobFolder, true), mount_of("keys", kKeysFolder, true),
                   mount_of("database", kServerFolder, false)});
  if (rendered.copies_to_folder()) {
    container["volumeMounts"].push_back(mount_of("copies", rendered.job.spec.durability.copy_to, false));
  }
  if (rendered.encrypts_copies()) {
    container["volumeMounts"].push_back(mount_of("copy-key", kCopyKeyFolder, true));
  }
  if (rendered.has_s3_credentials()) {
    container["volumeMounts"].push_back(mount_of("s3-credentials", kS3CredentialsFolder, true));
  }
  if (!rendered.options.initial.empty()) {
    container["volumeMounts"].push_back(mount_of("initial", kInitialFolder, true));
  }
  return container;
}

// Servers of a job on different nodes where there are as many.
Json spread_over_nodes(const RenderedJob& rendered) {
  const Json term = {
      {"weight", 100},
      {"podAffinityTerm",
       {{"labelSelector", {{"matchLabels", server_labels(rendered)}}}, {"topologyKey", "kubernetes.io/hostname"}}}};
  return {{"podAntiAffinity", {{"preferredDuringSchedulingIgnoredDuringExecution", Json::array({term})}}}};
}

Json worker_container(const RenderedJob& rendered) {
  auto arguments = rendered.worker_arguments(kLeadHost, kLeadPatience);
  arguments.emplace_back("--name=$(BALLAST_POD)");
  arguments.push_back("--unfinished-code=" + std::to_string(kLeftEarly));
  Json container = {{"name", "worker"},
                    {"image", rendered.worker_image()},
                    {"imagePullPolicy", "IfNotPresent"},
                    {"args", arguments},
                    {"env",
                     {env_variable("BALLAST_LEAD_HOST", host_of_service(rendered, 0)),
                      {{"name", "BALLAST_POD"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}}}},
                    {"ports", Json::array({container_port("metrics", kMetricsPort)})},
                    {"resources", granted_resources(rendered.options.worker_cpu, rendered.sizes.worker)}};
  if (rendered.options.gpus > 0) {
    container["resources"]["requests"]["nvidia.com/gpu"] = rendered.options.gpus;
    container["resources"]["limits"]["nvidia.com/gpu"] = rendered.options.gpus;
  }
  add_probes(container, "ballast-worker");
  container["securityContext"] = container_security();
  container["volumeMounts"] = Json::array({temporary_mount(), mount_of("keys", kKeysFolder, true)});
  if (rendered.has_data()) {
    container["volumeMounts"].push_back(mount_of("data", kDataFolder, true));
  }
  return container;
}

void place_workers(const RenderedJob& rendered, Json& spec) {
  const auto& options = rendered.options;
  for (const auto& label : options.worker_nodes) {
    const auto [key, value] = key_and_value(label, "--worker-node");
    spec["nodeSelector"][key] = value;
  }
  if (options.gpus > 0) {
    spec["tolerations"].push_back(toleration_of("nvidia.com/gpu:NoSchedule"));
  }
  for (const auto& text : options.worker_tolerations) {
    spec["tolerations"].push_back(toleration_of(text));
  }
}

}  // namespace

Json job_labels(const RenderedJob& rendered) {
  return {{"app.kubernetes.io/name", "ballast"}, {"app.kubernetes.io/instance", rendered.name}};
}

Json server_labels(const RenderedJob& rendered) {
  auto labels = job_labels(rendered);
  labels["app.kubernetes.io/component"] = "server";
  return labels;
}

Json shard_labels(const RenderedJob& rendered, std::uint32_t shard) {
  auto labels = server_labels(rendered);
  labels["ballast/shard"] = std::to_string(shard);
  return labels;
}

Json worker_labels(const RenderedJob& rendered) {
  auto labels = job_labels(rendered);
  labels["app.kubernetes.io/component"] = "worker";
  return labels;
}

Json server_template(const RenderedJob& rendered, std::uint32_t shard) {
  auto spec = pod_basis(rendered.server_grace(), rendered.options.server_priority);
  spec["restartPolicy"] = "OnFailure";
  spec["affinity"] = spread_over_nodes(rendered);
  spec["containers"] = Json::array({server_container(rendered, shard)});
  spec["volumes"] = Json::array({temporary_volume(), volume_of_map("job", rendered.name + "-job"),
                                 volume_of_secret("keys", rendered.server_secret(), {kServerKeyFile, kAllowedKeysFile}),
                                 volume_of_claim("database", shard_object_name(rendered.name, shard), false)});
  if (rendered.copies_to_folder()) {
    spec["volumes"].push_back(volume_of_claim("copies", rendered.options.copies, false));
  }
  if (rendered.encrypts_copies()) {
    spec["volumes"].push_back(volume_of_secret("copy-key", rendered.options.copy_key, {rendered.copy_key_name()}));
  }
  if (rendered.has_s3_credentials()) {
    spec["volumes"].push_back(
        volume_of_secret("s3-credentials", rendered.options.s3_credentials, {rendered.s3_credentials_name()}));
  }
  if (!rendered.options.initial.empty()) {
    spec["volumes"].push_back(volume_of_claim("initial", rendered.options.initial, true));
  }
  return {{"metadata", {{"labels", shard_labels(rendered, shard)}}}, {"spec", spec}};
}

Json worker_template(const RenderedJob& rendered) {
  auto spec = pod_basis(RenderedJob::worker_grace(), rendered.options.worker_priority);
  spec["restartPolicy"] = "Never";  // the Job decides: it makes no new ones once one has seen the end
  place_workers(rendered, spec);
  spec["containers"] = Json::array({worker_container(rendered)});
  spec["volumes"] =
      Json::array({temporary_volume(), volume_of_secret("keys", rendered.worker_secret(), {kWorkerKeyFile})});
  if (rendered.has_data()) {
    spec["volumes"].push_back(volume_of_claim("data", rendered.options.data, true));
  }
  return {{"metadata", {{"labels", worker_labels(rendered)}}}, {"spec", spec}};
}

}  // namespace ballast
