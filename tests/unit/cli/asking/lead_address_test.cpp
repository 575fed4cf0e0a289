#include "cli/asking/lead_address.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "cli/asking/scale.h"
#include "cli/run_folder/run_folder.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using testing::contains;
using testing::error_of;

TEST_CASE("a lead is named by its run's folder or by its address") {
  const TemporaryFolder folder;
  CHECK(lead_address("tcp://127.0.0.1:1") == "tcp://127.0.0.1:1");
  CHECK(contains(error_of([&] { lead_address(folder.path().string()); }), "lead.address"));
  std::ofstream(folder.path() / "lead.address") << "ipc:///x/lead\n";
  CHECK(lead_address(folder.path().string()) == "ipc:///x/lead");
  CHECK(contains(error_of([] { lead_address("nowhere"); }), "neither"));
}

TEST_CASE("a run that another command has made, and that was never started, is told with what to do") {
  const TemporaryFolder folder;
  const auto path = folder.path().string();
  mark_run_folder(folder.path());
  const auto told = "the run in " + path + " has not been started; ";
  const auto resume = "`ballast run --resume " + path;
  const std::string goes_on = "` goes on with a job that is not at its end";
  CHECK(error_of([&] { lead_address(path); }) ==
        told + "`ballast inspect " + path + "` tells what it holds, " + resume + goes_on);
  CHECK(error_of([&] { scale_run({path, 2, 1}); }) == told + resume + " --workers N" + goes_on);
  std::ofstream(folder.path() / "lead.address") << "tcp://127.0.0.1:1\n";  // servers that were started by hand
  CHECK(lead_address(path) == "tcp://127.0.0.1:1");
  CHECK(contains(error_of([&] { scale_run({path, 2, 1}); }), "no `ballast run` supervises"));
}

TEST_CASE("a run whose processes are gone is told at once, with what to do") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "lead.address") << "ipc:///x/lead\n";
  CHECK_FALSE(has_living_run(folder.path()));
  CHECK(lead_address(folder.path().string()) == "ipc:///x/lead");  // of servers that were started by hand, say
  {
    const RunFolder run(folder.path().string(), "job");
    CHECK(has_living_run(folder.path()));
    CHECK(lead_address(folder.path().string()) == "ipc:///x/lead");
  }
  CHECK_FALSE(has_living_run(folder.path()));
  const auto closed = folder.path() / "closed";
  std::filesystem::create_directory(closed);
  std::filesystem::create_symlink("lock", closed / "lock");  // leads to itself: it cannot be opened
  CHECK(has_living_run(closed));
  const auto text = error_of([&] { lead_address(folder.path().string()); });
  CHECK(contains(text, "no process of the run in " + folder.path().string() + " lives"));
  CHECK(contains(text, "ballast run --resume " + folder.path().string()));
  const auto blank = folder.path() / "my run";
  { const RunFolder run(blank.string(), "job"); }
  std::ofstream(blank / "lead.address") << "ipc:///x/lead\n";
  CHECK(contains(error_of([&] { lead_address(blank.string()); }),
                 "`ballast inspect '" + blank.string() + "'` tells what it holds, `ballast run --resume '" +
                     blank.string() + "'` goes on"));
}

}  // namespace
}  // namespace ballast
