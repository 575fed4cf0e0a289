// Job and worker files: reading, writing and comparing. Every function is free of global state and thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/job/config_error.h"
#include "common/job/spec.h"

namespace ballast {

// Reads a file, replaces values by `overrides` ("key.path=value", the value in YAML; an empty value restores the
// default) and checks everything. Throws ConfigError, which tells all mistakes at once with file and line; a file that
// can't be read is one too. What the keys are, stands in docs/configuration.md.
// `fit`: whether cluster.memory_mib, where it is given, must do for every shard (common/job/memory_budget.h). Not for
// who only reads what was, or is told what others have judged.
enum class Fit : std::uint8_t { any, judged };
JobSpec load_job(const std::string& path, std::span<const std::string> overrides = {}, Fit fit = Fit::any);
WorkerSpec load_worker(const std::string& path, std::span<const std::string> overrides = {});

// Of a run folder's job.yaml, which holds every default: nobody wrote its values one by one, so those that an override
// leaves without a meaning (durability.fsync_interval_ms, with durability.fsync=always) go with it.
JobSpec load_effective_job(const std::string& path, std::span<const std::string> overrides, Fit fit = Fit::any);

// The same from a text; `label` stands for the file's name in errors.
JobSpec parse_job(std::string_view text, const std::string& label, std::span<const std::string> overrides = {},
                  Fit fit = Fit::any);
WorkerSpec parse_worker(std::string_view text, const std::string& label, std::span<const std::string> overrides = {});

// The effective job: every key that means something for it, defaults included. parse_job gives the same spec back.
std::string to_yaml(const JobSpec& spec);

// SHA-256 (64 hexadecimal digits) over the keys that decide the job's bits: its name, model, data (without the path)
// and training; not the cluster, not durability. Two processes whose digests differ do not work on the same job.
std::string spec_digest(const JobSpec& spec);

// Which of those keys differ between two effective jobs, for the text of a refusal:
// "training.seed (1 against 2), model.name (mlp against lenet5)". Empty if none does. Never throws ConfigError: a text
// that can't be read is named instead.
std::string differing_keys(const std::string& a_yaml, const std::string& b_yaml);

}  // namespace ballast
