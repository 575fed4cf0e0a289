#include "cli/models/export.h"

#include <cstdio>
#include <string>
#include <vector>

#include "cli/models/same_job.h"
#include "common/safetensors/writer.h"
#include "common/telling/amounts.h"

namespace ballast {

namespace {

safetensors::Metadata metadata_of(const OpenedRun& run, const OpenedRun::Chosen& chosen, const std::string& sha256) {
  safetensors::Metadata metadata = {{"format", "pt"},  // names, shapes and order of elements are PyTorch's
                                    {"job", run.job().spec.job},
                                    {"step", std::to_string(chosen.id.step)},
                                    {"timeline", std::to_string(chosen.id.timeline)},
                                    {"spec_digest", run.job().spec_digest},
                                    {"layout_digest", run.job().layout_digest},
                                    {"weights_sha256", sha256},
                                    {"model", run.job().spec.model.name},
                                    {"job_file", run.job().yaml}};
  if (averages_weights(run.job().spec.training)) {
    metadata["weights"] = chosen.averages ? "averages" : "last";
  }
  metadata.merge(example_metadata(run.job()));
  return metadata;
}

std::vector<safetensors::Declared> tensors_of(const Arena& arena) {
  std::vector<safetensors::Declared> tensors;
  for (const auto& parameter : arena.parameters) {
    tensors.push_back({parameter.name, {parameter.shape.begin(), parameter.shape.end()}});
  }
  return tensors;
}

}  // namespace

int export_weights(const ExportOptions& options) {
  const OpenedRun run(options.run);
  const auto chosen = run.choose(options.snapshot);
  const auto sha256 = run.weights_sha256(chosen);
  auto writer = value_or_throw(
      safetensors::Writer::create(options.output, tensors_of(run.job().arena), metadata_of(run, chosen, sha256)));
  StoreStatus written;
  run.visit(chosen, [&](std::size_t, std::span<const std::byte> piece) {
    if (written.ok()) {
      written = writer.append(piece);
    }
  });
  throw_unless_ok(written);
  throw_unless_ok(writer.finish());
  std::printf("%s\nwritten to %s: %s, weights sha256 %s\n", chosen.words.c_str(), options.output.c_str(),
              count_text(run.job().arena.parameters.size(), "tensor").c_str(), sha256.c_str());
  return 0;
}

}  // namespace ballast
