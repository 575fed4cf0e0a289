// Feeds arbitrary job files, with overrides, to their reader.
//
// What loads must be the same job again when its effective file is read, key by key, and its steps, its arena and its
// digest must follow without failure, as in every process that is given it. What is refused must say why, in lines.
#include <cstdint>
#include <optional>

#include "common/job/job.h"
#include "common/job/load.h"
#include "common/job/model_parameters.h"
#include "common/text/text.h"
#include "tests/fuzz/configuration.h"

namespace ballast::fuzz {
namespace {

std::optional<JobSpec> read(const ConfigurationInput& input) {
  try {
    return parse_job(input.file, "job.yaml", input.overrides);
  } catch (const ConfigError& error) {
    expect_told(error, "job.yaml:");
    return std::nullopt;
  }
}

void expect_same_again(JobSpec spec) {
  const std::string yaml = to_yaml(spec);
  JobSpec again = parse_job(yaml, "effective");
  expect(!text_fault(yaml, TextKind::lines), "the effective job can be sent to workers");
  expect(to_yaml(again) == yaml, "the effective job is written as it was read");
  expect(values_of(job_schema(again)) == values_of(job_schema(spec)), "the effective job is the same job");
  expect(spec_digest(again) == spec_digest(spec), "the effective job has the same digest");
}

// The arena of a large model takes as long as the model is large.
void expect_laid_out(const JobSpec& spec) {
  std::uint64_t floats = 0;
  for (const auto& parameter : declare_parameters(spec.model, example_shape(spec.data))) {
    floats += parameter.elements();
  }
  constexpr std::uint64_t kSmall = 1U << 20U;
  if (floats <= kSmall) {
    const Job job = make_job(spec);
    expect(job.steps.steps > 0, "a job has at least one step");
  }
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast::fuzz;
  if (const auto spec = read(configuration_input({reinterpret_cast<const char*>(data), size}))) {
    expect_same_again(*spec);
    expect_laid_out(*spec);
  }
  return 0;
}
