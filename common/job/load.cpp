#include "common/job/load.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "common/job/checks.h"
#include "common/job/given.h"
#include "common/job/job.h"
#include "common/job/memory_budget.h"
#include "common/job/schema.h"
#include "common/job/yaml_tree.h"

namespace ballast {
namespace {

// At most one byte more than may be parsed: enough to see that a file is too large, however large it is.
std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxYamlBytes + 1, '\0');
  if (file) {
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
  }
  if (!file.is_open() || file.bad()) {
    const std::string why = errno != 0 ? std::strerror(errno) : "unknown error";
    throw ConfigError(path + ": can't be read: " + why);
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// An empty file is a map without keys: the missing ones are told by name.
YamlNode parse_map(std::string_view text, const std::string& label) {
  YamlNode root = parse_yaml(text, label);
  if (root.kind == YamlNode::Kind::null) {
    root.kind = YamlNode::Kind::map;
  }
  if (root.kind != YamlNode::Kind::map) {
    throw ConfigError(label + ":" + std::to_string(root.line) +
                      ": not a configuration; lines of `key: value` are needed");
  }
  return root;
}

// Defaults that depend on the mode.
void settle_defaults(JobSpec& spec, const Given& given) {
  auto& training = spec.training;
  const bool averages = training.mode == Mode::local && training.optimizer.name == "sgd";
  if (averages && !given.contains("training.optimizer.learning_rate")) {
    training.optimizer.learning_rate = 1;
  }
  if (is_item_mode(training.mode) && !given.contains("durability.mode")) {
    spec.durability.mode = "journal";
  }
}

void drop_meaningless(const Schema& schema, Given& given) {
  for (const auto& key : schema.keys) {
    const auto found = given.find(key.path);
    if (found != given.end() && !found->second.place.is_override() && !applies(schema, key)) {
      given.erase(found);
    }
  }
}

// What every other process is given is the effective file: it must be readable as well.
void check_effective_size(const JobSpec& spec, Mistakes& mistakes) {
  const std::size_t bytes = to_yaml(spec).size();
  if (bytes > kMaxYamlBytes) {
    const bool of_layers = spec.model.name == "layers";
    mistakes.add({}, of_layers ? "model.layers" : "model.parameters",
                 "the job with all its defaults is " + std::to_string(bytes) + " bytes long, more than " +
                     std::to_string(kMaxYamlBytes) + "; name fewer " + (of_layers ? "layers" : "parameters") +
                     ", or shorter");
  }
}

// Whose values the text has: what somebody wrote must mean something, value by value.
enum class Source : std::uint8_t { written, effective };

// Only of a job that is right otherwise: its arena is laid out for it.
void check_memory(const JobSpec& spec, const Given& given, Mistakes& mistakes) {
  const auto found = given.find("cluster.memory_mib");
  if (spec.cluster.memory_mib == 0 || found == given.end()) {
    return;
  }
  if (const auto why = why_too_little_memory(make_job(spec), 0)) {
    mistakes.add(found->second.place, "cluster.memory_mib", *why);
  }
}

JobSpec parse(std::string_view text, const std::string& label, std::span<const std::string> overrides, Source source,
              Fit fit) {
  JobSpec spec;
  const Schema schema = job_schema(spec);
  Mistakes mistakes(label);
  Given given = collect(schema, parse_map(text, label), mistakes);
  apply_overrides(schema, overrides, given, mistakes);
  const auto unreadable = fill(schema, given, mistakes);
  settle_defaults(spec, given);
  if (source == Source::effective) {
    drop_meaningless(schema, given);
  }
  check_job(schema, spec, given, unreadable, mistakes);
  mistakes.throw_if_any();
  // Written out, so that a job that gives the usual value is the same job as one that leaves it away.
  spec.model.dropout = dropout_of(spec.model);
  spec.training.optimizer.epsilon = epsilon_of(spec.training.optimizer);
  spec.training.local.optimizer.epsilon = epsilon_of(spec.training.local.optimizer);
  check_effective_size(spec, mistakes);
  mistakes.throw_if_any();
  if (fit == Fit::judged) {
    check_memory(spec, given, mistakes);
    mistakes.throw_if_any();
  }
  return spec;
}

}  // namespace

JobSpec parse_job(std::string_view text, const std::string& label, std::span<const std::string> overrides, Fit fit) {
  return parse(text, label, overrides, Source::written, fit);
}

WorkerSpec parse_worker(std::string_view text, const std::string& label, std::span<const std::string> overrides) {
  WorkerSpec spec;
  const Schema schema = worker_schema(spec);
  Mistakes mistakes(label);
  Given given = collect(schema, parse_map(text, label), mistakes);
  apply_overrides(schema, overrides, given, mistakes);
  fill(schema, given, mistakes);
  mistakes.throw_if_any();
  return spec;
}

JobSpec load_job(const std::string& path, std::span<const std::string> overrides, Fit fit) {
  return parse_job(read_file(path), path, overrides, fit);
}

JobSpec load_effective_job(const std::string& path, std::span<const std::string> overrides, Fit fit) {
  return parse(read_file(path), path, overrides, Source::effective, fit);
}

WorkerSpec load_worker(const std::string& path, std::span<const std::string> overrides) {
  return parse_worker(read_file(path), path, overrides);
}

}  // namespace ballast
