#include "cli/rendering/rendered_job.h"

#include <algorithm>
#include <filesystem>

#include "cli/data/portable_yaml.h"
#include "cli/rendering/object_names.h"
#include "common/command/usage_error.h"
#include "common/job/load.h"
#include "worker/data/datasets.h"

namespace ballast {

namespace {

// "the job <what>, <key> <value>: say <option>"; and the other way round.
void require_place(bool needed, const std::string& given, const std::string& key, const std::string& why,
                   const std::string& option) {
  if (needed && given.empty()) {
    throw UsageError(key + ": " + why + ", which no container has by itself; say " + option);
  }
  if (!needed && !given.empty()) {
    throw UsageError(option + " has no use: the job says nothing by " + key + " that would be kept there");
  }
}

void check_places(const JobSpec& spec, const RenderOptions& options) {
  const auto& copy_to = spec.durability.copy_to;
  require_place(reads_files(spec.data), options.data, "data.name", spec.data.name + " is read from files", "--data");
  require_place(!copy_to.empty() && !is_bucket(copy_to), options.copies, "durability.copy_to",
                "copies go to a folder, " + copy_to, "--copies");
  require_place(!spec.training.init_from.empty(), options.initial, "training.init_from",
                "the weights begin as in a file, " + spec.training.init_from, "--initial");
  require_place(!spec.durability.copy_key_file.empty(), options.copy_key, "durability.copy_key_file",
                "copies are encrypted by the key in a file, " + spec.durability.copy_key_file, "--copy-key");
  const auto& credentials = spec.durability.s3_credentials_file;
  require_place(!credentials.empty(), options.s3_credentials, "durability.s3_credentials_file",
                "servers have the bucket's keys from a file, " + credentials, "--s3-credentials");
  if (!options.s3_secret.empty() && !is_bucket(copy_to)) {
    throw UsageError("--s3-secret has no use: durability.copy_to of the job is no s3://BUCKET/PREFIX");
  }
  if (!options.s3_secret.empty() && !credentials.empty()) {
    throw UsageError("--s3-secret has no use: servers have the bucket's keys from a file, " + credentials +
                     " (durability.s3_credentials_file), by --s3-credentials");
  }
}

// The files' folders are others in a container.
RenderOptions with_container_paths(const RenderOptions& options, const JobSpec& spec) {
  auto changed = options;
  const auto move = [&changed](const char* key, const std::string& path, const std::string& folder) {
    if (!path.empty()) {
      const auto file = std::filesystem::path(path).filename().string();
      changed.overrides.push_back(std::string(key) + "=" + portable_text(folder + "/" + file));
    }
  };
  move("training.init_from", spec.training.init_from, kInitialFolder);
  move("durability.copy_key_file", spec.durability.copy_key_file, kCopyKeyFolder);
  move("durability.s3_credentials_file", spec.durability.s3_credentials_file, kS3CredentialsFolder);
  return changed;
}

}  // namespace

std::string RenderedJob::image(const std::string& program) const {
  return options.registry + "/" + program + ":" + options.tag;
}

std::string RenderedJob::copy_key_name() const {
  return std::filesystem::path(job.spec.durability.copy_key_file).filename().string();
}

std::string RenderedJob::s3_credentials_name() const {
  return std::filesystem::path(job.spec.durability.s3_credentials_file).filename().string();
}

std::string RenderedJob::server_secret() const {
  return options.server_secret.empty() ? name + "-server-keys" : options.server_secret;
}

std::string RenderedJob::worker_secret() const {
  return options.worker_secret.empty() ? name + "-worker-keys" : options.worker_secret;
}

std::uint32_t RenderedJob::server_grace() const {
  const auto& cluster = job.spec.cluster;
  return std::min(cluster.hold_patience, cluster.stop_patience) + kGraceReserve;
}

std::vector<std::string> RenderedJob::server_arguments(std::uint32_t shard, const std::string& lead_host,
                                                       const std::string& own_host, std::uint32_t lead_patience) const {
  std::vector<std::string> arguments = {"--job=" + std::string(kJobFolder) + "/job.yaml",
                                        "--shard=" + std::to_string(shard),
                                        "--lead=tcp://" + lead_host + ":" + std::to_string(kLeadPort)};
  if (shard == 0) {
    arguments.push_back("--lead-bind=tcp://0.0.0.0:" + std::to_string(kLeadPort));
    arguments.push_back("--linger=" + std::to_string(kLinger));
  } else {
    arguments.push_back("--lead-patience=" + std::to_string(lead_patience));
  }
  arguments.push_back("--bind=tcp://0.0.0.0:" + std::to_string(kLanePort));
  arguments.push_back("--advertise=" + own_host);
  // A folder within the volume, whose own may hold lost+found.
  arguments.push_back("--database=" + std::string(kServerFolder) + "/shard-" + std::to_string(shard));
  arguments.push_back("--metrics=0.0.0.0:" + std::to_string(kMetricsPort));
  arguments.push_back("--keys=" + std::string(kKeysFolder));
  return arguments;
}

std::vector<std::string> RenderedJob::worker_arguments(const std::string& lead_host,
                                                       std::uint32_t lead_patience) const {
  std::vector<std::string> arguments = {"--lead=tcp://" + lead_host + ":" + std::to_string(kLeadPort),
                                        "--lead-patience=" + std::to_string(lead_patience),
                                        "--metrics=0.0.0.0:" + std::to_string(kMetricsPort)};
  if (has_data()) {
    arguments.push_back("--data=" + std::string(kDataFolder));
  }
  arguments.push_back(options.gpus > 0 ? "--backend=cuda" : "--backend=cpu");
  arguments.push_back("--keys=" + std::string(kKeysFolder) + "/" + kWorkerKeyFile);
  return arguments;
}

RenderedJob rendered_job(const RenderOptions& options) {
  const auto given = load_job(options.job, options.overrides);
  check_places(given, options);
  const auto there = with_container_paths(options, given);
  RenderedJob rendered{make_job(load_job(there.job, there.overrides)), options, {}, {}};
  rendered.name = options.name.empty() ? object_name_of_job(given.job) : checked_object_name(options.name);
  rendered.sizes = process_sizes(rendered.job, options);
  return rendered;
}

}  // namespace ballast
