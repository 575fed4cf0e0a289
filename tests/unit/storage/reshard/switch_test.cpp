#include "storage/reshard/switch.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// All files of a folder by their names in it.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      content[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
    }
  }
  return content;
}

// A run of `before` shards, for which databases of `after` shards are built.
void make_run(const fs::path& run, std::uint32_t before, std::uint32_t after) {
  for (std::uint32_t shard = 0; shard < before; ++shard) {
    write_text(run / ("shard-" + std::to_string(shard)) / "CURRENT", "old " + std::to_string(shard));
  }
  write_text(run / "job.yaml", "old job");
  write_text(run / "logs" / "shard-0.log", "log");
  for (std::uint32_t shard = 0; shard < after; ++shard) {
    write_text(reshard_build_database(run, shard) / "CURRENT", "new " + std::to_string(shard));
  }
  write_text(reshard_build_job(run), "new job");
}

std::map<std::string, std::string> run_of(std::uint32_t shards) {
  std::map<std::string, std::string> content = {{"job.yaml", "new job"}, {"logs/shard-0.log", "log"}};
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    content["shard-" + std::to_string(shard) + "/CURRENT"] = "new " + std::to_string(shard);
  }
  return content;
}

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

// Ends what it is called by after so many steps.
class Countdown {
 public:
  explicit Countdown(int steps) : left_(steps) {}
  void operator()() {
    if (left_-- == 0) {
      throw Killed();
    }
  }

 private:
  int left_;
};

// Kills it after each step, and what brings it to its end after each of its own.
int check_every_step(std::uint32_t before, std::uint32_t after) {
  int steps = 0;
  for (bool killed = true; killed; ++steps) {
    bool killed_again = true;
    for (int again = 0; killed_again; ++again) {
      const TemporaryFolder folder;
      const auto run = folder.path() / "run";
      make_run(run, before, after);
      killed = false;
      try {
        const auto status = switch_databases(run, Countdown(steps));
        REQUIRE_MESSAGE(status.ok(), status.text());
      } catch (const Killed&) {
        killed = true;
      }
      killed_again = false;
      try {
        const auto status = finish_switch(run, Countdown(again));
        REQUIRE_MESSAGE(status.ok(), status.text());
      } catch (const Killed&) {
        killed_again = true;
        CHECK(has_unfinished_switch(run) == (content_of(run).count("reshard.old/old-0/CURRENT") == 0));
      }
      REQUIRE(finish_switch(run).ok());
      CHECK_FALSE(has_unfinished_switch(run));
      remove_reshard_remains(run);
      CHECK(content_of(run) == run_of(after));
    }
  }
  return steps;
}

TEST_CASE("a switch that is killed after any step is brought to its end, whatever kills that") {
  CHECK(check_every_step(1, 3) > 8);
  CHECK(check_every_step(3, 2) > 9);
}

TEST_CASE("before the switch is decided nothing of the run changes, and what was built goes") {
  const TemporaryFolder folder;
  make_run(folder.path(), 2, 3);
  CHECK_FALSE(has_unfinished_switch(folder.path()));
  CHECK(finish_switch(folder.path()).ok());
  CHECK(content_of(folder.path()).at("shard-1/CURRENT") == "old 1");
  remove_reshard_remains(folder.path());
  CHECK(content_of(folder.path()) == std::map<std::string, std::string>{{"job.yaml", "old job"},
                                                                        {"logs/shard-0.log", "log"},
                                                                        {"shard-0/CURRENT", "old 0"},
                                                                        {"shard-1/CURRENT", "old 1"}});
}

TEST_CASE("what is in the way of a new database is told, and the switch comes to its end once it is gone") {
  const TemporaryFolder folder;
  const auto& run = folder.path();
  make_run(run, 1, 2);
  CHECK_THROWS_AS(static_cast<void>(switch_databases(run, Countdown(5))), Killed);
  write_text(run / "shard-1" / "CURRENT", "somebody's");
  const auto status = finish_switch(run);
  CHECK_FALSE(status.ok());
  CHECK(status.text().find("shard-1") != std::string::npos);
  fs::remove_all(run / "shard-1");
  CHECK(finish_switch(run).ok());
  CHECK(content_of(run) == run_of(2));
}

TEST_CASE("a journal that is a link to another disk goes with the database that it was of") {
  const TemporaryFolder folder;
  const auto run = folder.path() / "run";
  make_run(run, 1, 2);
  const auto segment = folder.path() / "fast" / "0000000000000001";
  write_text(segment, "a segment");
  write_text(folder.path() / "fast" / "notes", "not a journal's");
  fs::create_directory_symlink(folder.path() / "fast", run / "shard-0" / "journal");
  CHECK(switch_databases(run).ok());
  CHECK_FALSE(fs::exists(segment));
  CHECK(fs::exists(folder.path() / "fast" / "notes"));
  CHECK_FALSE(fs::exists(run / "reshard.old"));
}

TEST_CASE("names of folders") {
  for (const auto* name : {"reshard.new", "reshard.out", "reshard.in", "reshard.old"}) {
    CHECK(is_reshard_name(name));
  }
  CHECK_FALSE(is_reshard_name("reshard"));
  CHECK_FALSE(is_reshard_name("shard-0"));
}

}  // namespace
}  // namespace ballast
