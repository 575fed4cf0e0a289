#include "cli/running/resume.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "storage/journal/journal.h"
#include "storage/store/shard_store.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using testing::contains;
using testing::error_of;

namespace fs = std::filesystem;

constexpr const char* kJob = R"(
job: small
model: {name: mlp, hidden: [4]}
data: {name: glyphs, train_examples: 64, test_examples: 8}
training: {slots: 4, batch: 16, epochs: 2}
cluster: {workers: 3, shards: 2, lanes: 1}
)";

// A run's folder with the databases of two shards, as a run leaves it.
class EarlierRun {
 public:
  explicit EarlierRun(const std::string& more = {}) : job_(make_job(parse_job(kJob + more, "test"))) {
    fs::create_directory(path());
    write_atomically(path() / "job.yaml", job_.yaml);
  }

  void make_database(std::uint32_t shard, const Ledger* ledger, std::optional<SnapshotId> end = {},
                     const std::vector<SnapshotId>& sealed = {{1, 6}, {1, 8}}) {
    auto opened = open_rocksdb(shard_database(path(), shard), OpenMode::create);
    REQUIRE(opened.ok());
    ShardStore store(std::move(opened.value()));
    REQUIRE(
        store.claim({kDatabaseFormat, job_.spec.job, job_.spec_digest, job_.layout_digest, shard, 2, job_.yaml}).ok());
    for (const auto& snapshot : sealed) {
      REQUIRE(store.seal(snapshot).ok());
    }
    if (ledger != nullptr) {
      REQUIRE(store.write_ledger({*ledger, {}, {}, {}}).ok());
    }
    if (end) {
      REQUIRE(store.write_finished(*end).ok());
    }
  }

  [[nodiscard]] fs::path path() const { return folder_.path() / "run"; }
  [[nodiscard]] RunFolder folder() const { return RunFolder::of_earlier_run(path().string()); }
  [[nodiscard]] const Job& job() const { return job_; }

 private:
  TemporaryFolder folder_;
  Job job_;
};

Ledger with_snapshot(Step step) {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.incarnations = {7, 8};
  ledger.complete = {{1, 0}, {1, step}};
  return ledger;
}

TEST_CASE("a run that has a complete snapshot goes on from it") {
  EarlierRun run;
  const auto ledger = with_snapshot(6);
  run.make_database(0, &ledger);
  run.make_database(1, nullptr);
  const auto folder = run.folder();
  const auto job = job_to_resume(folder, {"cluster.workers=5", "cluster.lanes=2", "durability.every_steps=9"}, "");
  CHECK(job.spec.cluster.workers == 5);
  CHECK(job.spec.cluster.lanes == 2);
  CHECK(job.spec_digest == run.job().spec_digest);
  CHECK(resume_text(folder, job, ledger_to_resume(folder, job)) ==
        "job small goes on from the snapshot of step 6 of 8, epoch 1");
  auto paused = ledger;
  paused.pause = Pause::held;
  CHECK(resume_text(folder, job, paused) ==
        "job small goes on from the snapshot of step 6 of 8, epoch 1; it was paused, which is over");
}

TEST_CASE("a journaled run goes on from its journals, and names those that are gone") {
  EarlierRun run;
  const auto folder = run.folder();
  const auto job = make_job(parse_job(kJob, "test", std::vector<std::string>{"training.mode=async"}));
  const std::string from = "job small goes on from the snapshot of step 6 of 8, epoch 1";
  const auto journal = [&](std::uint32_t shard) { return Journal::folder_in(shard_database(run.path(), shard)); };
  for (const std::uint32_t shard : {0U, 1U}) {
    fs::create_directories(journal(shard));
    write_atomically(journal(shard) / "0000000000000001", "a segment");
  }
  CHECK(resume_text(folder, job, with_snapshot(6)) == from + ", and from the journals of what came after it");
  const auto without = [&](const std::string& names) {
    return from + "; what came after it is trained again, for there is no journal in " + names +
           " (if it was moved, stop the run now, put it back and resume)";
  };
  fs::remove_all(journal(1));
  CHECK(resume_text(folder, job, with_snapshot(6)) == without(journal(1).string()));
  fs::remove(journal(0) / "0000000000000001");
  CHECK(resume_text(folder, job, with_snapshot(6)) == without(journal(0).string() + ", " + journal(1).string()));
}

TEST_CASE("values of a try that has trained nothing are not kept for the next") {
  EarlierRun run;
  const auto ledger = with_snapshot(6);
  run.make_database(0, &ledger);
  const auto folder = run.folder();
  const auto has = [&](const std::string& text) { return testing::contains(read_file(folder.job_file()), text); };
  const FormerJobFile former(folder);
  CHECK_FALSE(former.put_back_unless_trained(folder, ledger));  // nothing was changed
  const auto other = job_to_resume(folder, {"cluster.workers=5"}, "").yaml;
  write_atomically(folder.job_file(), other);
  REQUIRE(has("workers: 5"));
  CHECK(former.put_back_unless_trained(folder, ledger));
  CHECK(has("workers: 3"));
  CHECK(read_file(folder.job_file()) == run.job().yaml);

  write_atomically(folder.job_file(), other);
  CHECK_FALSE(former.put_back_unless_trained(folder, with_snapshot(4)));  // which has come to step 6 since
  CHECK(has("workers: 5"));
}

TEST_CASE("a run that had not begun starts") {
  EarlierRun run;
  run.make_database(0, nullptr);  // shard 1 had not come so far
  const auto folder = run.folder();
  CHECK(resume_text(folder, run.job(), ledger_to_resume(folder, run.job())) == "job small had not begun: it starts");
}

TEST_CASE("what decides the bits cannot be changed, nor the number of shards") {
  EarlierRun run;
  const auto folder = run.folder();
  CHECK(contains(error_of([&] { job_to_resume(folder, {"training.seed=9"}, ""); }), "training.seed (1 against 9)"));
  const auto text = error_of([&] { job_to_resume(folder, {"cluster.shards=3"}, ""); });
  CHECK(contains(text, "2 shards"));
  CHECK(contains(text, "with 3"));
}

TEST_CASE("of job.yaml's values, those that a change leaves without a meaning go with it") {
  EarlierRun run;
  const auto folder = run.folder();
  const auto spec = parse_job(kJob, "test", std::vector<std::string>{"training.mode=async"});
  write_atomically(run.path() / "job.yaml", to_yaml(spec));  // with durability.fsync_interval_ms, which nobody wrote
  const auto always = job_to_resume(folder, {"durability.fsync=always"}, "");
  CHECK(always.spec.durability.fsync == Fsync::always);
  CHECK_FALSE(contains(always.yaml, "fsync_interval_ms"));
  const auto snapshots = job_to_resume(folder, {"durability.mode=snapshot"}, "");
  CHECK(snapshots.spec.durability.mode == "snapshot");
  CHECK_FALSE(contains(snapshots.yaml, "fsync"));
  CHECK(resume_text(folder, snapshots, with_snapshot(6)) ==
        "job small goes on from the snapshot of step 6 of 8, epoch 1");
  // What somebody asks for is still checked.
  const auto text = error_of([&] {
    job_to_resume(folder, {"durability.fsync=always", "durability.fsync_interval_ms=5"}, "");
  });
  CHECK(contains(text, "--set: durability.fsync_interval_ms: means nothing here"));
}

TEST_CASE("a job file that is named as well must be the same job") {
  EarlierRun run;
  const auto folder = run.folder();
  const auto file = run.path() / "other.yaml";
  write_atomically(file, kJob);
  CHECK_NOTHROW(job_to_resume(folder, {}, file.string()));
  write_atomically(file, std::string(kJob).replace(std::string(kJob).find("hidden: [4]"), 11, "hidden: [5]"));
  const auto text = error_of([&] { job_to_resume(folder, {}, file.string()); });
  CHECK(contains(text, file.string()));
  CHECK(contains(text, "model.hidden"));
}

TEST_CASE("a finished run tells where its result is") {
  EarlierRun run;
  auto ledger = with_snapshot(8);
  ledger.finished = SnapshotId{1, 8};
  run.make_database(0, &ledger, ledger.finished);
  run.make_database(1, nullptr, ledger.finished);
  const auto folder = run.folder();
  const auto text = error_of([&] { ledger_to_resume(folder, run.job()); });
  CHECK(contains(text, "has finished, at step 8"));
  CHECK(contains(text, "ballast export"));
  CHECK(shards_without_end(folder, run.job()).empty());
}

TEST_CASE("a finished run goes on where a database does not have its end yet") {
  EarlierRun run;
  auto ledger = with_snapshot(8);
  ledger.finished = SnapshotId{1, 8};
  run.make_database(0, &ledger, ledger.finished);
  run.make_database(1, nullptr);
  const auto folder = run.folder();
  CHECK(shards_without_end(folder, run.job()) == "shard 1");
  CHECK(resume_text(folder, run.job(), ledger_to_resume(folder, run.job())) ==
        "job small has finished, at step 8: what lacks its end gets it");
}

TEST_CASE("a run without shard 0's database is told where the rest of it is") {
  const auto text_with = [](const std::string& durability) {
    EarlierRun run(durability);
    run.make_database(1, nullptr);
    return error_of([&] { ledger_to_resume(run.folder(), run.job()); });
  };
  CHECK(contains(text_with(""), "put it back, or begin anew in another folder"));
  CHECK(contains(text_with("durability: {copy_to: /mnt/copies}"),
                 "put it back, or build all databases anew from copies: `ballast restore /mnt/copies --run-dir NEW`"));
  const auto named = text_with("durability: {copy_to: /mnt/copies, run: small-1}");
  CHECK(contains(named, "go on from the copies of the run small-1 in another folder: `ballast run "));
  CHECK(contains(named, "/run/job.yaml --run-dir NEW`"));
  CHECK(contains(text_with("durability: {copy_to: 's3://b/p', s3_endpoint: 'https://s3.example.org'}"),
                 "`ballast restore s3://b/p --s3-endpoint https://s3.example.org --run-dir NEW`"));
  CHECK(contains(text_with("durability: {copy_to: /mnt/copies, copy_key_file: '/a b/copies.key'}"),
                 "`ballast restore /mnt/copies --copy-key-file '/a b/copies.key' --run-dir NEW`"));
}

TEST_CASE("a folder without databases, or with one gone, is refused") {
  EarlierRun run;
  const auto folder = run.folder();
  CHECK(contains(error_of([&] { ledger_to_resume(folder, run.job()); }), "nothing to resume"));
  const auto ledger = with_snapshot(6);
  run.make_database(0, &ledger);
  const auto text = error_of([&] { ledger_to_resume(folder, run.job()); });
  CHECK(contains(text, "shard-1"));
  CHECK(contains(text, "ballast restore"));
}

TEST_CASE("a database without its part of the newest snapshot is refused, and so is one that is damaged") {
  EarlierRun run;
  const auto folder = run.folder();
  const auto ledger = with_snapshot(6);
  run.make_database(0, &ledger);
  const auto database = shard_database(run.path(), 1);
  SUBCASE("one that holds older ones") {
    run.make_database(1, nullptr, {}, {{1, 3}});
    const auto text = error_of([&] { ledger_to_resume(folder, run.job()); });
    CHECK(contains(text, "the database " + database.string() +
                             " lacks shard 1's part of the newest complete snapshot, " + describe(SnapshotId{1, 6}) +
                             ": the newest that it holds is " + describe(SnapshotId{1, 3})));
    CHECK(contains(text, "ballast restore"));
    const auto left = what_is_left(folder, run.job(), Outlook::open);
    CHECK(contains(left, text));
    CHECK_FALSE(contains(left, "go on with"));
  }
  SUBCASE("one whose files are gone") {
    run.make_database(1, nullptr);
    {  // Closed again, so that what it holds is in a table.
      auto opened = open_rocksdb(database, OpenMode::create);
      REQUIRE(opened.ok());
    }
    std::size_t removed = 0;
    for (const auto& file : fs::directory_iterator(database)) {
      removed += file.path().extension() == ".sst" && fs::remove(file.path()) ? 1 : 0;
    }
    REQUIRE(removed > 0);
    const auto left = what_is_left(folder, run.job(), Outlook::open);
    CHECK(contains(left, database.string()));
    CHECK(contains(left, "ballast restore"));
    CHECK_FALSE(contains(left, "go on with"));
  }
}

TEST_CASE("what is left is offered, unless what ended the run would end it again") {
  EarlierRun run;
  const auto folder = run.folder();
  const auto ledger = with_snapshot(6);
  run.make_database(0, &ledger);
  run.make_database(1, nullptr);
  const std::string durable = "durable is the snapshot of step 6 of 8; ";
  CHECK(contains(what_is_left(folder, run.job(), Outlook::open), durable + "go on with: ballast run --resume "));
  CHECK(what_is_left(folder, run.job(), Outlook::ends_again) ==
        durable + "a run that goes on from there would end like this one: see to what is told above");
  const auto left = what_is_left(folder, run.job(), Outlook::bad_data, "digits.yaml");
  CHECK(left == durable + "if the data become what they were, or lie elsewhere: ballast run --resume " +
                    folder.shown() +
                    " (--set data.path=DIR); with other data, or another data section, start anew: ballast run "
                    "digits.yaml, in another run folder");
}

TEST_CASE("after bad data, a run that has trained nothing is not offered to go on") {
  EarlierRun run;
  auto ledger = with_snapshot(6);
  ledger.complete.pop_back();
  run.make_database(0, &ledger, {}, {{1, 0}});
  run.make_database(1, nullptr, {}, {{1, 0}});
  const auto left = what_is_left(run.folder(), run.job(), Outlook::bad_data);
  CHECK(contains(left, "nothing was trained; mend the data or the job file"));
  CHECK(contains(left, "start anew: ballast run JOB, in another run folder"));
  CHECK_FALSE(contains(left, "--resume"));
}

TEST_CASE("databases of another job than the folder's job.yaml are refused") {
  EarlierRun run;
  run.make_database(0, nullptr);
  const auto folder = run.folder();
  auto spec = run.job().spec;
  spec.training.seed = 5;
  CHECK(contains(error_of([&] { ledger_to_resume(folder, make_job(spec)); }), "training.seed (1 against 5)"));
}

TEST_CASE("databases of another version's layout are refused as such") {
  EarlierRun run;
  run.make_database(0, nullptr);
  const auto folder = run.folder();
  auto job = run.job();
  job.layout_digest = std::string(64, 'a');
  const auto text = error_of([&] { ledger_to_resume(folder, job); });
  CHECK(contains(text, "shard-0: this database was made by another version of Ballast"));
  CHECK(contains(text, job.layout_digest + " here"));
}

TEST_CASE("a folder that is no run's is refused") {
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { RunFolder::of_earlier_run(folder.path().string()); }), "no job.yaml"));
  CHECK(contains(error_of([&] { RunFolder::of_earlier_run((folder.path() / "none").string()); }), "no job.yaml"));
}

TEST_CASE("two runs do not share a folder") {
  const TemporaryFolder folder;
  const RunFolder first(folder.path().string(), "job");
  const auto text = error_of([&] { RunFolder(folder.path().string(), "job"); });
  CHECK(contains(text, "another run uses the folder"));
  CHECK(contains(text, "process " + std::to_string(getpid())));
}

}  // namespace
}  // namespace ballast
