// The one description of every key of job and worker files. Reading, writing, checking, the job's digest and
// docs/configuration.md all follow from it. Defaults are the initial values of the structs in spec.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// The member of the bound spec that a key fills; std::monostate for a key that is not built yet.
using Target = std::variant<std::monostate, std::string*, bool*, Mode*, NonFinite*, StalenessSpec::Damping*,
                            LocalSpec::Partition*, Fsync*, Gain*, GlobalPool2d::Kind*, StepPool::Kind*, std::uint32_t*,
                            std::uint64_t*, double*, float*, Pair*, std::optional<std::uint32_t>*,
                            std::optional<std::uint64_t>*, std::optional<double>*, std::vector<std::uint32_t>*,
                            std::vector<double>*, std::vector<EmulatedParameter>*, std::vector<LayerSpec>*,
                            std::vector<ParameterGroup>*, std::vector<std::string>*, std::vector<CsvColumn>*>;

// What text a key of free text takes.
enum class TextRule : std::uint8_t { printable, job_name, endpoint, host_port, copy_target, http_url, data_digest };

// A key that means something only where another key, which itself means something, has one of these values.
struct OnlyWith {
  std::string key;
  std::vector<std::string> values;
};

struct Key {
  std::string path = {};  // e.g. training.optimizer.momentum
  Target target = {};
  std::string description = {};  // one sentence without its full stop
  std::string unit = {};
  double minimum = 0;  // numbers, and each number of a list; both included
  double maximum = 0;
  std::vector<std::string> choices = {};  // text: the allowed words, if it is not free; of an enum, in its order
  TextRule rule = TextRule::printable;
  OnlyWith only_with = {};
  // Those values of only_with where the key came to mean something later: its default is neither written nor a part of
  // the digest there, so that jobs keep theirs.
  std::vector<std::string> later_with = {};
  // The key came after the protocol's version before this one: its default is not written, so that processes of that
  // version, which refuse a key that they do not know, can read the effective job.
  bool is_new = false;
  bool required = false;
  bool identity = false;          // decides the bits of the job's result
  std::string default_note = {};  // what the default value means, where the value alone does not say it

  [[nodiscard]] bool built() const { return !std::holds_alternative<std::monostate>(target); }
};

struct Section {
  std::string path;
  std::string description;
};

struct Schema {
  std::vector<Section> sections;  // outer before inner; the top level is not among them
  std::vector<Key> keys;          // in the order of the reference; keys of a section stand together

  [[nodiscard]] const Key* find_key(const std::string& path) const;
  [[nodiscard]] bool is_section(const std::string& path) const;
};

// The keys bound to a spec's members: the schema must not outlive it.
Schema job_schema(JobSpec& spec);
Schema worker_schema(WorkerSpec& spec);

// The value of a key as YAML text on one line; empty where it has none.
std::string value_text(const Key& key);

// Whether the effective job file and the digest have the key: it means something and has a value, which is not a
// default that came later.
bool is_written(const Schema& schema, const Key& key);

// Whether the key means something, given the values of the spec that the schema is bound to.
bool applies(const Schema& schema, const Key& key);

// The condition because of which the key means nothing, the outermost of several; nullptr if there is none.
const OnlyWith* unmet_condition(const Schema& schema, const Key& key);

inline constexpr std::uint64_t kMaxLaneFloats = 1ULL << 33U;  // of weights, 32 GiB: half of the chunks a pull may name
inline constexpr std::size_t kMaxParameters = 10000;          // of an emulated model
inline constexpr std::size_t kMaxParameterGroups = 64;
inline constexpr std::size_t kMaxDimensions = 8;  // of one parameter's shape
inline constexpr std::size_t kMaxHiddenLayers = 16;
inline constexpr std::size_t kMaxRealNumbers = 10000;  // of a list
inline constexpr std::size_t kMaxWords = 65536;        // of a list of text
inline constexpr std::size_t kMaxColumns = 4096;       // of a csv file

}  // namespace ballast
