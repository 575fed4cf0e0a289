// Feeds arbitrary worker files, with overrides, to their reader.
//
// What loads must load again as the same from its own values. What is refused must say why, in lines.
#include <cstdint>
#include <optional>
#include <string>

#include "common/job/load.h"
#include "tests/fuzz/configuration.h"

namespace ballast::fuzz {
namespace {

std::optional<WorkerSpec> read(const ConfigurationInput& input) {
  try {
    return parse_worker(input.file, "worker.yaml", input.overrides);
  } catch (const ConfigError& error) {
    expect_told(error, "worker.yaml:");
    return std::nullopt;
  }
}

void expect_same_again(WorkerSpec spec) {
  const Schema schema = worker_schema(spec);
  std::string yaml;
  for (const auto& key : schema.keys) {
    if (const auto value = value_text(key); !value.empty()) {
      yaml.append(key.path).append(": ").append(value).append("\n");
    }
  }
  WorkerSpec again = parse_worker(yaml, "written");
  expect(values_of(worker_schema(again)) == values_of(schema), "a worker's values are read as they are written");
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast::fuzz;
  if (const auto spec = read(configuration_input({reinterpret_cast<const char*>(data), size}))) {
    expect_same_again(*spec);
  }
  return 0;
}
