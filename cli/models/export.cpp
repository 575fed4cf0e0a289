#include "cli/models/export.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/safetensors/writer.h"
#include "worker/data/normalise.h"

namespace ballast {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : "\n") + word;
  }
  return text;
}

// What the network reads and predicts, so that it can be computed elsewhere.
void append_examples(safetensors::Metadata& metadata, const Job& job) {
  const auto& shape = job.shape;
  const auto& data = job.spec.data;
  if (shape.vocabulary > 0) {
    metadata["input"] = "tokens below " + std::to_string(shape.vocabulary) + ", at most " +
                        std::to_string(shape.steps) + (shape.trees ? " nodes of a tree" : " steps");
  } else if (shape.features() > 0) {
    metadata["input"] = example_text({1, shape.channels, shape.height, shape.width, std::max(shape.steps, 1U)});
  }
  if (data.name != "none" && !is_example_files(data)) {
    metadata["normalization"] = normalisation_of(data).formula();
  }
  if (shape.classes > 0) {
    metadata["outputs"] = std::to_string(shape.classes);
  }
  if (!data.classes.empty()) {
    metadata["classes"] = joined(data.classes);
  }
}

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
  append_examples(metadata, run.job());
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
  std::printf("%s\nwritten to %s: %zu tensors, weights sha256 %s\n", chosen.words.c_str(), options.output.c_str(),
              run.job().arena.parameters.size(), sha256.c_str());
  return 0;
}

}  // namespace ballast
