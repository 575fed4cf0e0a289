#include "cli/rendering/kubernetes.h"

#include <utility>

#include "cli/rendering/object_names.h"
#include "cli/rendering/pods.h"
#include "cli/rendering/policies.h"
#include "common/keys/key_file.h"
#include "common/text/shell_word.h"

namespace ballast {

namespace {

using Json = nlohmann::ordered_json;

// Containers that end badly before Kubernetes gives a shard up; evictions count as well in newer versions. Kubernetes
// waits longer each time, 5 minutes at last: so a server that cannot live is given up after some eight hours.
constexpr std::uint32_t kShardRestarts = 100;
// Of workers, which are preempted and scaled down, and hold nothing.
constexpr std::uint32_t kWorkerRestarts = 1'000'000;

Json metadata(const std::string& name, const Json& labels) { return {{"name", name}, {"labels", labels}}; }

Json job_file_map(const RenderedJob& rendered) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", metadata(rendered.name + "-job", job_labels(rendered))},
          {"data", {{"job.yaml", rendered.job.yaml}}}};
}

Json service_port(const std::string& name, std::uint32_t number) {
  return {{"name", name}, {"port", number}, {"targetPort", name}};
}

// Servers must be reached before they are ready: a lane serves only when all shards are there.
Json shard_service(const RenderedJob& rendered, std::uint32_t shard) {
  Json ports = Json::array();
  if (shard == 0) {
    ports.push_back(service_port("lead", kLeadPort));
  }
  for (std::uint32_t lane = 0; lane < rendered.lanes(); ++lane) {
    ports.push_back(service_port("lane-" + std::to_string(lane), kLanePort + lane));
  }
  ports.push_back(service_port("metrics", kMetricsPort));
  const auto labels = shard_labels(rendered, shard);
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata(shard_object_name(rendered.name, shard), labels)},
          {"spec", {{"selector", labels}, {"publishNotReadyAddresses", true}, {"ports", ports}}}};
}

Json shard_claim(const RenderedJob& rendered, std::uint32_t shard) {
  Json spec = {{"accessModes", Json::array({"ReadWriteOnce"})},
               {"resources", {{"requests", {{"storage", quantity_text(rendered.sizes.disk)}}}}}};
  if (!rendered.options.storage_class.empty()) {
    spec["storageClassName"] = rendered.options.storage_class;
  }
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", metadata(shard_object_name(rendered.name, shard), shard_labels(rendered, shard))},
          {"spec", spec}};
}

// Kueue starts a Job that is suspended when the queue's quota has room for it.
Json batch_job(const RenderedJob& rendered, const std::string& name, const Json& labels, const Json& spec) {
  Json job = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", metadata(name, labels)}, {"spec", spec}};
  if (!rendered.options.queue.empty()) {
    job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = rendered.options.queue;
    job["spec"]["suspend"] = true;
  }
  return job;
}

Json shard_job(const RenderedJob& rendered, std::uint32_t shard) {
  return batch_job(rendered, shard_object_name(rendered.name, shard), shard_labels(rendered, shard),
                   {{"completions", 1},
                    {"parallelism", 1},
                    {"backoffLimit", kShardRestarts},
                    {"template", server_template(rendered, shard)}});
}

// Without `completions`: the first worker that ends with 0 has seen the job's end, and no more are made.
Json worker_job(const RenderedJob& rendered) {
  auto job = batch_job(rendered, rendered.name + "-workers", worker_labels(rendered),
                       {{"parallelism", rendered.workers()},
                        {"backoffLimit", kWorkerRestarts},
                        {"template", worker_template(rendered)}});
  if (!rendered.options.queue.empty()) {
    job["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] =
        std::to_string(rendered.job.spec.cluster.start_workers);
  }
  return job;
}

}  // namespace

std::vector<Json> kubernetes_objects(const RenderedJob& rendered) {
  std::vector<Json> objects = {job_file_map(rendered)};
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    objects.push_back(shard_service(rendered, shard));
  }
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    objects.push_back(shard_claim(rendered, shard));
  }
  for (auto& each : policies(rendered)) {
    objects.push_back(std::move(each));
  }
  for (std::uint32_t shard = 0; shard < rendered.shards(); ++shard) {
    objects.push_back(shard_job(rendered, shard));
  }
  objects.push_back(worker_job(rendered));
  if (rendered.options.monitors) {
    for (auto& each : monitors(rendered)) {
      objects.push_back(std::move(each));
    }
  }
  return objects;
}

std::vector<std::string> secrets_to_make(const RenderedJob& rendered) {
  const auto file = [](const char* name) { return std::string(" --from-file=keys/") + name; };
  std::vector<std::string> lines = {
      "ballast keygen keys",
      "kubectl create secret generic " + rendered.server_secret() + file(kServerKeyFile) + file(kAllowedKeysFile),
      "kubectl create secret generic " + rendered.worker_secret() + file(kWorkerKeyFile),
  };
  if (rendered.encrypts_copies()) {
    const auto name = shell_word(rendered.copy_key_name());
    lines.push_back("ballast keygen --copies " + name);
    lines.push_back("kubectl create secret generic " + rendered.options.copy_key + " --from-file=" + name);
  }
  if (rendered.has_s3_credentials()) {
    lines.push_back("kubectl create secret generic " + rendered.options.s3_credentials +
                    " --from-file=" + shell_word(rendered.s3_credentials_name()));
  }
  return lines;
}

std::string page_to_forward(const RenderedJob& rendered) {
  return "kubectl port-forward job/" + shard_object_name(rendered.name, 0) + " " + std::to_string(kPagePort);
}

Json weights_job(const RenderedJob& rendered) {
  const auto pod = weights_template(rendered);
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", metadata(rendered.name + "-weights", pod["metadata"]["labels"])},
          {"spec", {{"backoffLimit", 2}, {"template", pod}}}};
}

}  // namespace ballast
