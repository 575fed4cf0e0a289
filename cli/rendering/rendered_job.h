// A job with all that its manifests say of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/rendering/process_sizes.h"
#include "cli/rendering/render_options.h"
#include "common/job/job.h"

namespace ballast {

// Where things are in a container. The images' user owns kServerFolder.
inline constexpr auto* kJobFolder = "/etc/ballast";
inline constexpr auto* kServerFolder = "/var/lib/ballast";
inline constexpr auto* kDataFolder = "/data";
inline constexpr auto* kInitialFolder = "/initial";
inline constexpr auto* kCopyKeyFolder = "/copy-key";
inline constexpr auto* kS3CredentialsFolder = "/s3-credentials";
inline constexpr auto* kKeysFolder = "/keys";  // each has the keys of its role, and no others
inline constexpr auto* kWorkerKeyFile = "worker.key";
// What servers know a bucket's keys by that are in no file.
inline constexpr std::array<const char*, 2> kBucketKeys = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"};
inline constexpr std::uint32_t kImageUser = 10001;  // and its group

inline constexpr std::uint32_t kLeadPort = 7000;
inline constexpr std::uint32_t kLanePort = 7100;  // of lane 0; each further lane has the next one
inline constexpr std::uint32_t kMetricsPort = 9100;
inline constexpr std::uint32_t kPagePort = 8080;  // of the server of shard 0

// Seconds that the lead stays after the end, for workers and servers that are just being started again.
inline constexpr std::uint32_t kLinger = 120;
// Seconds from SIGTERM to SIGKILL beyond the patience that the process has itself.
inline constexpr std::uint32_t kGraceReserve = 20;
inline constexpr std::uint32_t kDrainPatience = 20;  // of a worker

// Probes look at the process's metrics page, and again until its loops have turned, 10 s at most.
inline constexpr auto* kOwnMetrics = "127.0.0.1:9100";
inline constexpr std::uint32_t kProbePeriod = 20;
inline constexpr std::uint32_t kProbeTimeout = 15;

inline bool is_bucket(const std::string& place) { return place.starts_with("s3://"); }

struct RenderedJob {
  // training.init_from, durability.copy_key_file and durability.s3_credentials_file are where a container finds them
  Job job;
  RenderOptions options;
  std::string name;  // base of the objects' names
  ProcessSizes sizes;

  [[nodiscard]] std::uint32_t shards() const { return job.spec.cluster.shards; }
  [[nodiscard]] std::uint32_t workers() const { return job.spec.cluster.workers; }
  [[nodiscard]] std::uint32_t lanes() const { return job.spec.cluster.lanes; }
  [[nodiscard]] bool has_data() const { return !options.data.empty(); }
  [[nodiscard]] bool copies_to_folder() const { return !options.copies.empty(); }
  [[nodiscard]] bool encrypts_copies() const { return !options.copy_key.empty(); }
  // In kCopyKeyFolder.
  [[nodiscard]] std::string copy_key_name() const;
  // The bucket's keys are in a file, and not in the environment.
  [[nodiscard]] bool has_s3_credentials() const { return !options.s3_credentials.empty(); }
  // In kS3CredentialsFolder.
  [[nodiscard]] std::string s3_credentials_name() const;
  [[nodiscard]] bool copies_to_bucket() const { return is_bucket(job.spec.durability.copy_to); }
  // REGISTRY/PROGRAM:TAG
  [[nodiscard]] std::string image(const std::string& program) const;
  [[nodiscard]] std::string worker_image() const { return image(options.gpus > 0 ? "worker-cuda" : "worker-cpu"); }
  // The Secrets of Kubernetes with the keys of either.
  [[nodiscard]] std::string server_secret() const;
  [[nodiscard]] std::string worker_secret() const;
  // Until when a server that is told to end must have come to its snapshot, at the latest.
  [[nodiscard]] std::uint32_t server_grace() const;
  [[nodiscard]] static std::uint32_t worker_grace() { return kDrainPatience + kGraceReserve; }
  // Options of a process, whatever starts it. What comes when the lead has gone finds nobody, and ends after
  // `lead_patience` seconds.
  [[nodiscard]] std::vector<std::string> server_arguments(std::uint32_t shard, const std::string& lead_host,
                                                          const std::string& own_host,
                                                          std::uint32_t lead_patience) const;
  [[nodiscard]] std::vector<std::string> worker_arguments(const std::string& lead_host,
                                                          std::uint32_t lead_patience) const;
};

// Reads and checks the job file. Throws ConfigError; UsageError for what the options lack or have too much of, with the
// remedy.
RenderedJob rendered_job(const RenderOptions& options);

}  // namespace ballast
