#include "cli/models/export.h"

#include <cstdio>

#include "common/safetensors/writer.h"

namespace ballast {

namespace {

safetensors::Metadata metadata_of(const OpenedRun& run, const WeightsDigest& digest) {
  return {{"format", "pt"},  // names, shapes and order of elements are PyTorch's
          {"job", run.job().spec.job},
          {"step", std::to_string(digest.snapshot.step)},
          {"timeline", std::to_string(digest.snapshot.timeline)},
          {"spec_digest", run.job().spec_digest},
          {"layout_digest", run.job().layout_digest},
          {"weights_sha256", digest.weights}};
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
  const auto digest = run.digest(chosen.id);
  auto writer = value_or_throw(
      safetensors::Writer::create(options.output, tensors_of(run.job().arena), metadata_of(run, digest)));
  StoreStatus written;
  throw_unless_ok(
      run.reader().visit(chosen.id, TensorKind::weights, [&](std::size_t, std::span<const std::byte> piece) {
        if (written.ok()) {
          written = writer.append(piece);
        }
      }));
  throw_unless_ok(written);
  throw_unless_ok(writer.finish());
  std::printf("%s\nwritten to %s: %zu tensors, weights sha256 %s\n", chosen.words.c_str(), options.output.c_str(),
              run.job().arena.parameters.size(), digest.weights.c_str());
  return 0;
}

}  // namespace ballast
