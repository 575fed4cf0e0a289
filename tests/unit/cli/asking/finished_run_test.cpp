#include "cli/asking/finished_run.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cli/asking/status.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "storage/store/shard_store.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using testing::contains;
using testing::error_of;

constexpr const char* kEndedJob = R"(
job: small
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 84, test_examples: 8, validation_examples: 20}
training: {slots: 4, batch: 16, epochs: 2}
)";

// A run's folder as it is once its processes are gone.
class EndedRun {
 public:
  explicit EndedRun(bool finished) {
    const RunFolder run(path(), "small");  // its lock stays, and nobody has it
    std::ofstream(run.job_file()) << kEndedJob;
    ShardStore store(value_or_throw(open_rocksdb(shard_database(path(), 0), OpenMode::create)));
    Ledger ledger;
    ledger.timeline = 1;
    ledger.complete = {{1, 8}};
    if (finished) {
      ledger.finished = SnapshotId{1, 8};
    }
    REQUIRE(store
                .write_ledger({ledger,
                               {},
                               {},
                               {{4, Split::validation, 0.5, 0.75, 20},
                                {8, Split::validation, 0.75, 0.5, 20},
                                {8, Split::test, 1.25, 0.625, 8}}})
                .ok());
  }
  [[nodiscard]] std::string path() const { return folder_.path().string() + "/run"; }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("the status of a run that has finished is its end, by its databases") {
  const EndedRun run(true);
  const auto text = captured([&] { CHECK(show_status(run.path(), false) == 0); });
  CHECK(contains(text, "job small: finished, at step 8 of 8, mode sync; no process of it lives any more\n"));
  CHECK(contains(text, "test accuracy 62.50 %, loss 1.2500, at step 8\n"));
  CHECK(contains(text, "validation accuracy 50.00 %, loss 0.7500, at step 8\n"));
  CHECK(contains(text, "best by accuracy: 75.00 %, at step 4 ("));
  CHECK(contains(text, "ballast export " + run.path()));
  const auto json = nlohmann::json::parse(captured([&] { CHECK(show_status(run.path(), true) == 0); }));
  CHECK(json["phase"] == "finished");
  CHECK(json["step"] == 8);
  CHECK(json["best"]["step"] == 4);
  CHECK(json["best_by"] == "accuracy");
  for (const auto* unknown :
       {"train_loss", "recent_loss", "learning_rate", "training_seconds", "examples", "examples_per_second",
        "duplicates", "superseded", "lost_workers", "refused_workers", "backups", "slots_taken", "slots_reassigned",
        "slots_tried", "staleness", "copies", "sessions"}) {
    CAPTURE(unknown);
    CHECK(json.at(unknown).is_null());
  }
  CHECK(json["rollbacks"] == 0);
}

TEST_CASE("commands that are told fit a shell where the folder's name has blanks") {
  const EndedRun run(true);
  const auto job = job_of_run(run.path());
  REQUIRE(job);
  const auto text = finished_lines(*job, *finished_run(*job, run.path()), "/runs/my run");
  CHECK(contains(text, "`ballast digest '/runs/my run'`, `ballast export '/runs/my run' -o FILE.safetensors`\n"));
}

TEST_CASE("a run whose processes go while its lead is asked tells its end") {
  const EndedRun run(true);
  std::ofstream(run.path() + "/lead.address") << "ipc://" << run.path() << "/nobody\n";
  std::optional<RunLock> held(run.path());
  std::thread command([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    held.reset();
  });
  const auto text = captured([&] { CHECK(show_status(run.path(), false, std::chrono::minutes(1)) == 0); });
  command.join();
  CHECK(contains(text, "finished, at step 8 of 8, mode sync; no process of it lives any more\n"));
}

TEST_CASE("a run that has finished and whose lead is gone tells its end while its command, or who knows, holds it") {
  const EndedRun run(true);
  std::ofstream(run.path() + "/lead.address") << "ipc://" << run.path() << "/nobody\n";
  const auto text_of = [](const EndedRun& asked) {
    return captured([&] { CHECK(show_status(asked.path(), false, std::chrono::milliseconds(300)) == 0); });
  };
  {
    const RunLock held(run.path());
    CHECK(contains(text_of(run), "finished, at step 8 of 8, mode sync; its lead has gone\n"));
  }
  const auto lock = run.path() + "/lock";
  std::filesystem::remove(lock);
  CHECK(contains(text_of(run), "no process of it lives any more\n"));
  std::filesystem::create_symlink("lock", lock);  // leads to itself: it cannot be opened
  CHECK(contains(text_of(run), "finished, at step 8 of 8"));

  const EndedRun unfinished(false);
  std::ofstream(unfinished.path() + "/lead.address") << "ipc://" << unfinished.path() << "/nobody\n";
  const RunLock held(unfinished.path());
  CHECK(show_status(unfinished.path(), false, std::chrono::milliseconds(300)) == 1);
}

TEST_CASE("a run that has not finished has no end") {
  const EndedRun run(false);
  REQUIRE(job_of_run(run.path()));
  CHECK_FALSE(finished_run(*job_of_run(run.path()), run.path()));
  CHECK(contains(error_of([&] { show_status(run.path(), false); }), "no process of the run in"));
  CHECK(best_by_of(*job_of_run(run.path())) == MetricKind::accuracy);
}

TEST_CASE("what is no run's folder tells nothing") {
  const TemporaryFolder folder;
  CHECK_FALSE(job_of_run(folder.path().string()));
  CHECK_FALSE(job_of_run("tcp://127.0.0.1:1"));
}

}  // namespace
}  // namespace ballast
