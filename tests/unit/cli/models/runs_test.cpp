#include "cli/models/runs.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "cli/models/gather.h"
#include "cli/models/opened_run.h"
#include "cli/models/run_removal.h"
#include "cli/run_folder/run_folder.h"
#include "tests/unit/cli/captured.h"
#include "tests/unit/cli/models/sample_run.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// The run's own databases, at places that no run's folder would have.
std::vector<std::string> scattered(const SampleRun& run) {
  fs::rename(shard_database(run.path(), 0), run.file("here"));
  fs::rename(shard_database(run.path(), 1), run.file("there"));
  return {run.file("there"), run.file("here")};
}

TEST_CASE("gathered databases are a run's folder") {
  const SampleRun run;
  run.write_ledger(true);
  const auto digest = OpenedRun(run.path()).digest(kEnd).weights;
  const auto databases = scattered(run);
  for (const bool link : {false, true}) {
    const auto folder = run.file(link ? "linked" : "copied");
    const auto said = captured([&] { CHECK(gather({databases, folder, link}) == 0); });
    CHECK(said.find(link ? "linked the databases of 2 shards" : "copied the databases of 2 shards") == 0);
    CHECK(said.find("the job has finished") != std::string::npos);
    CHECK(OpenedRun(folder).digest(kEnd).weights == digest);
    CHECK(fs::is_symlink(shard_database(folder, 0)) == link);
    CHECK(fs::is_regular_file(fs::path(folder) / "job.yaml"));
  }
  CHECK_THROWS_WITH_AS(gather({databases, run.file("copied"), false}), doctest::Contains("holds the database"),
                       std::runtime_error);
}

TEST_CASE("what is not all of one job is not gathered") {
  const SampleRun run;
  run.write_ledger(false);
  const SampleRun other;
  const auto here = shard_database(run.path(), 0).string();
  const auto there = shard_database(run.path(), 1).string();
  const auto folder = run.file("gathered");
  const auto refused = [&](const std::vector<std::string>& databases, const char* why) {
    CHECK_THROWS_WITH_AS(gather({databases, folder, false}), doctest::Contains(why), std::runtime_error);
    CHECK_FALSE(fs::exists(folder));
  };
  refused({here}, "the database of shard 1 is missing: job sample has 2 shards");
  refused({here, there, shard_database(other.path(), 0).string()}, "are both of shard 0; name one of them");
  refused({run.path()}, "run");
  refused({run.file("nothing")}, "there is no such folder");
}

TEST_CASE("a database without its part of the newest snapshot is not gathered") {
  const SampleRun run;
  run.write_ledger(false);
  const auto databases = scattered(run);
  const auto folder = run.file("gathered");
  const auto empty = run.file("empty");  // as a second server that is refused leaves it
  {
    ShardStore store(value_or_throw(open_rocksdb(empty, OpenMode::create)));
    REQUIRE(store
                .claim({kDatabaseFormat, run.job.spec.job, run.job.spec_digest, run.job.layout_digest, 1, kShards,
                        run.job.yaml})
                .ok());
  }
  for (const bool link : {false, true}) {
    CHECK_THROWS_WITH_AS(gather({{databases[1], empty}, folder, link}),
                         doctest::Contains(("the database " + empty + " lacks shard 1's part of the newest complete " +
                                            "snapshot, " + describe(kEarly) + ": it holds none")
                                               .c_str()),
                         std::runtime_error);
    CHECK_FALSE(fs::exists(folder));
  }
}

TEST_CASE("runs are listed with their state, accuracy and size") {
  const SampleRun run;
  run.write_ledger(true);
  const auto folder = run.folder.path();
  const auto job_into = [&](const fs::path& to) {
    fs::create_directories(to);
    std::ofstream(to / "job.yaml") << run.job.yaml;
  };
  job_into(run.path());
  job_into(folder / "begun");
  fs::create_directory(folder / "no-run");
  fs::create_directories(folder / "broken");
  std::ofstream(folder / "broken" / "job.yaml") << "job: [";
  const auto runs = list_runs(folder);
  REQUIRE(runs.size() == 3);
  for (const auto& listed : runs) {
    const auto name = listed.folder.filename().string();
    if (name == "run") {
      CHECK(listed.condition == RunCondition::finished);
      CHECK(listed.job == "sample");
      CHECK(listed.step == 9);
      CHECK(listed.steps == 9);
      CHECK(listed.accuracy == 0.125);
      CHECK(listed.bytes > 1000);
    } else if (name == "begun") {
      CHECK(listed.condition == RunCondition::empty);
    } else {
      CHECK(listed.condition == RunCondition::unreadable);
      CHECK_FALSE(listed.problem.empty());
    }
  }
  run.write_ledger(false);
  {
    const RunLock lock(run.path());
    for (const auto& listed : list_runs(folder)) {
      CHECK((listed.folder.filename() == "run") == (listed.condition == RunCondition::running));
    }
  }
  CHECK_THROWS_AS(list_runs(folder / "nothing"), std::runtime_error);
}

TEST_CASE("what may go: what has finished or never began, but the newest, and only when it is old enough") {
  constexpr std::int64_t kDay = 86'400;
  const auto run_of = [](const char* name, RunCondition condition, std::int64_t day) {
    RunListing run;
    run.folder = name;
    run.marked = true;
    run.condition = condition;
    run.began = day * kDay;
    return run;
  };
  const std::vector<RunListing> runs = {
      run_of("g", RunCondition::running, 9),    run_of("f", RunCondition::finished, 8),
      run_of("e", RunCondition::unfinished, 7), run_of("d", RunCondition::finished, 6),
      run_of("c", RunCondition::empty, 5),      run_of("b", RunCondition::unreadable, 4),
      run_of("a", RunCondition::finished, 3)};
  const auto names = [&](const PruneOptions& options) {
    std::string text;
    for (const auto& run : runs_to_prune(runs, options, 10 * kDay)) {
      text += run.folder.string();
    }
    return text;
  };
  CHECK(names({}) == "fdca");
  CHECK(names({.unfinished = true}) == "fedcba");
  CHECK(names({.keep = 2}) == "ca");
  CHECK(names({.older_than = 4}) == "ca");
  CHECK(names({.keep = 3, .older_than = 1}) == "a");
}

TEST_CASE("pruning removes the run, and never what a link leads to") {
  const SampleRun run;
  run.write_ledger(true);
  const auto databases = scattered(run);
  const auto runs = run.folder.path() / "runs";
  captured([&] { gather({databases, (runs / "linked").string(), true}); });
  const auto told = captured([&] { CHECK(prune_runs({.folder = runs.string()}) == 0); });
  CHECK(told.find("would remove") == 0);
  CHECK(fs::exists(runs / "linked" / "job.yaml"));
  captured([&] { CHECK(prune_runs({.folder = runs.string(), .yes = true}) == 0); });
  CHECK(fs::is_empty(runs));
  for (const auto& database : databases) {
    CHECK(fs::exists(fs::path(database) / "CURRENT"));
  }
}

// What a run leaves in its folder, beside its databases.
void fill_as_run(const SampleRun& run) {
  std::ofstream(fs::path(run.path()) / "job.yaml") << run.job.yaml;
  const RunFolder folder = RunFolder::of_earlier_run(run.path());
  mark_run_folder(run.path());
  std::ofstream(folder.log("shard-0")) << "a line\n";
  std::ofstream(folder.log("worker-12").string() + ".1") << "a line\n";
  std::ofstream(folder.address_file()) << "ipc:///x\n";
}

std::string pruned(const SampleRun& run, bool yes = true) {
  return captured([&] { CHECK(prune_runs({.folder = run.folder.path().string(), .yes = yes}) == 0); });
}

TEST_CASE("pruning takes all that a run made, and nothing else") {
  const SampleRun run;
  run.write_ledger(true);
  fill_as_run(run);
  const fs::path folder = run.path();
  SUBCASE("of a folder that holds nothing else, the folder") {
    pruned(run);
    CHECK_FALSE(fs::exists(folder));
  }
  SUBCASE("what a person keeps there stays, and is named") {
    const std::vector<fs::path> kept = {"logs/notes.log", "shard-notes", "shards", "weights.safetensors"};
    for (const auto& name : kept) {
      std::ofstream(folder / name) << "mine\n";
    }
    const std::string names =
        "but for what Ballast did not make there: logs/notes.log, shard-notes, shards, weights.safetensors";
    CHECK(pruned(run, false).find(names) != std::string::npos);
    CHECK(fs::exists(folder / "shard-0"));
    CHECK(pruned(run).find(names) != std::string::npos);
    for (const auto& name : kept) {
      CHECK(fs::is_regular_file(folder / name));
    }
    CHECK(std::distance(fs::recursive_directory_iterator(folder), {}) == 5);  // and logs
  }
}

TEST_CASE("a folder that a person made is listed, and never pruned") {
  const SampleRun run;
  run.write_ledger(true);
  const fs::path folder = run.path();
  std::ofstream(folder / "job.yaml") << run.job.yaml;  // beside --database shard-0, as servers are started by hand
  const auto runs = list_runs(run.folder.path());
  REQUIRE(runs.size() == 1);
  CHECK(runs.front().condition == RunCondition::finished);
  CHECK(pruned(run).find(folder.string() +
                         " is left: ballast run, gather, restore or reshard did not make this folder") == 0);
  CHECK(fs::exists(folder / "shard-0" / "CURRENT"));
  CHECK(fs::exists(folder / "job.yaml"));
}

// Another process that has a file locked as RocksDB locks it.
class Holder {
 public:
  explicit Holder(const fs::path& file) {
    std::array<int, 2> told{};
    REQUIRE(pipe(told.data()) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      const int fd = open(file.c_str(), O_RDWR);
      const char good = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
      [[maybe_unused]] const auto written = write(told[1], &good, 1);
      pause();
      _exit(0);
    }
    char good = 0;
    REQUIRE(read(told[0], &good, 1) == 1);
    REQUIRE(good == 'y');
    close(told[0]);
    close(told[1]);
  }
  ~Holder() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  pid_t pid_ = 0;
};

TEST_CASE("a run whose database a server has open is running, and nothing of it goes") {
  const SampleRun run;
  run.write_ledger(true);
  fill_as_run(run);
  const fs::path folder = run.path();
  {
    const Holder server(folder / "shard-1" / "LOCK");
    CHECK(list_runs(run.folder.path()).front().condition == RunCondition::running);
    CHECK(pruned(run).find("0 runs") == 0);
    // Though it was opened only after it was listed.
    CHECK_THROWS_WITH_AS(remove_run(folder), doctest::Contains("shard-1: a server has the database open"),
                         std::runtime_error);
    CHECK(fs::exists(folder / "shard-0" / "CURRENT"));
    CHECK(fs::exists(folder / "shard-1" / "CURRENT"));
  }
  pruned(run);
  CHECK_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace ballast
