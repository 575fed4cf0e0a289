#include "cli/models/export.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/models/model_commands.h"
#include "common/safetensors/initial_weights.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"

namespace ballast {
namespace {

std::vector<float> exported(const SampleRun& run, const std::string& file) {
  const auto weights = load_initial(file, run.job.arena);
  REQUIRE_MESSAGE(weights.ok(), (weights.ok() ? "" : weights.status().text()));
  std::vector<float> values;
  for (const auto& chunk : run.job.arena.chunks) {
    const auto content = weights.value().chunk(chunk.id);
    REQUIRE(content.ok());
    values.insert(values.end(), content.value().begin(), content.value().end());
  }
  return values;
}

TEST_CASE("a finished run's final weights are exported bit for bit, with where they come from") {
  const SampleRun run;
  run.write_ledger(true);
  const auto file = run.file("out.safetensors");
  const auto said = captured([&] { CHECK(export_weights({run.path(), file, {}}) == 0); });
  CHECK(said.find("the final weights of " + run.path() + ": step 9 of timeline 2") != std::string::npos);
  CHECK(exported(run, file) == run.weights(kEnd));

  const auto metadata = load_initial(file, run.job.arena).value().metadata();
  const auto digest = OpenedRun(run.path()).digest(kEnd);
  CHECK(metadata ==
        safetensors::Metadata{{"format", "pt"},
                              {"job", "sample"},
                              {"step", "9"},
                              {"timeline", "2"},
                              {"spec_digest", run.job.spec_digest},
                              {"layout_digest", run.job.layout_digest},
                              {"weights_sha256", digest.weights},
                              {"model", "mlp"},
                              {"input", "1 x 28 x 28"},
                              {"outputs", "10"},
                              {"normalization", "(x / 255 - mean) / deviation, mean [0.1307], deviation [0.3081]"},
                              {"job_file", run.job.yaml}});
}

TEST_CASE("another snapshot is exported when it is asked for") {
  const SampleRun run;
  run.write_ledger(true);
  const auto file = run.file("out.safetensors");
  for (const auto& choice : {SnapshotChoice{4, false}, SnapshotChoice{std::nullopt, true}}) {
    captured([&] { CHECK(export_weights({run.path(), file, choice}) == 0); });
    CHECK(exported(run, file) == run.weights(kEarly));
  }
  CHECK_THROWS_WITH(export_weights({run.path(), file, {5, false}}),
                    doctest::Contains("no complete snapshot of step 5"));
}

TEST_CASE(
    "of a job that averages its weights the averages are exported, and the last weights when they are asked for") {
  auto text = kSampleJob;
  text.replace(text.find("max_steps"), 0, "weight_average: {decay: 0.9}, ");
  const SampleRun run(text, true);
  run.write_ledger(true);
  const auto file = run.file("out.safetensors");
  auto said = captured([&] { CHECK(export_weights({run.path(), file, {}}) == 0); });
  CHECK(said.find("step 9 of timeline 2, averages of the weights") != std::string::npos);
  CHECK(exported(run, file) == run.averages(kEnd));
  CHECK(exported(run, file) != run.weights(kEnd));
  const OpenedRun opened(run.path());
  auto metadata = load_initial(file, run.job.arena).value().metadata();
  CHECK(metadata.at("weights") == "averages");
  CHECK(metadata.at("weights_sha256") == opened.weights_sha256(opened.choose({})));
  CHECK(metadata.at("weights_sha256") != opened.digest(kEnd).weights);

  const SnapshotChoice last{std::nullopt, false, true};
  said = captured([&] { CHECK(export_weights({run.path(), file, last}) == 0); });
  CHECK(said.find("step 9 of timeline 2, last weights") != std::string::npos);
  CHECK(exported(run, file) == run.weights(kEnd));
  metadata = load_initial(file, run.job.arena).value().metadata();
  CHECK(metadata.at("weights") == "last");
  CHECK(metadata.at("weights_sha256") == opened.digest(kEnd).weights);
  CHECK(opened.weights(opened.choose({4, false})) == run.averages(kEarly));
}

TEST_CASE("a run that goes on gives its newest complete snapshot, and says so") {
  const SampleRun run;
  run.write_ledger(false);  // kEnd is there, but not complete
  const auto file = run.file("out.safetensors");
  const auto said = captured([&] { export_weights({run.path(), file, {}}); });
  CHECK(said.find("the newest snapshot (the run has not finished)") != std::string::npos);
  CHECK(exported(run, file) == run.weights(kEarly));
}

TEST_CASE("what cannot be exported leaves no file") {
  const SampleRun run;
  const auto file = run.file("out.safetensors");
  CHECK_THROWS_WITH(export_weights({run.path(), file, {}}), doctest::Contains("no complete snapshot"));
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK_THROWS_WITH(export_weights({run.file("nowhere"), file, {}}), doctest::Contains("nowhere"));

  run.write_ledger(true);
  Ledger started;
  started.timeline = 1;
  started.complete = {{0, 0}};
  REQUIRE(run.open(0)->write_ledger({started, {}, {}, {}}).ok());
  CHECK_THROWS_WITH(export_weights({run.path(), file, {}}), doctest::Contains("no snapshot yet"));
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a negative step or limit is refused, not taken for the largest number") {
  for (const auto* line : {"export run -o file --step -1", "predict run --limit -1", "evaluate run --step -7"}) {
    CLI::App app;
    ModelCommands commands;
    commands.define(app);
    CHECK_THROWS_AS(app.parse(std::string(line)), CLI::ValidationError);
  }
}

TEST_CASE("a pipe, device or link is not replaced by the file") {
  const SampleRun run;
  run.write_ledger(true);
  const auto pipe = run.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(export_weights({run.path(), pipe, {}}), doctest::Contains("pipe: is a link or no regular file"));
  CHECK(std::filesystem::is_fifo(pipe));

  const auto link = run.file("link");  // as /dev/stdout is one, which may lead to a file
  std::ofstream(run.file("target")) << "mine";
  std::filesystem::create_symlink(run.file("target"), link);
  CHECK_THROWS_WITH(export_weights({run.path(), link, {}}), doctest::Contains("link: is a link or no regular file"));
  CHECK(std::filesystem::is_symlink(link));
}

}  // namespace
}  // namespace ballast
