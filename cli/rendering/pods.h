// Pods of a job in Kubernetes: what all of them have, and how servers and workers differ.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/rendering/rendered_job.h"

namespace ballast {

// How a process is told from the same of another life, in exit codes: it left before the job's end. Kubernetes takes
// 0 for the end of the whole Job.
inline constexpr int kLeftEarly = 143;

// Seconds. A worker that gives its lead up is replaced, as long as none has seen the job's end.
inline constexpr std::uint32_t kLeadPatience = 300;

// Labels of all objects of the job.
nlohmann::ordered_json job_labels(const RenderedJob& rendered);
// Of its servers, or workers: what selectors ask for.
nlohmann::ordered_json server_labels(const RenderedJob& rendered);
nlohmann::ordered_json shard_labels(const RenderedJob& rendered, std::uint32_t shard);
nlohmann::ordered_json worker_labels(const RenderedJob& rendered);

// Templates of Jobs: `metadata` and `spec`.
nlohmann::ordered_json server_template(const RenderedJob& rendered, std::uint32_t shard);
nlohmann::ordered_json worker_template(const RenderedJob& rendered);
// Reads the databases of a job that has finished: gathers them, and prints the digests of the weights.
nlohmann::ordered_json weights_template(const RenderedJob& rendered);

}  // namespace ballast
