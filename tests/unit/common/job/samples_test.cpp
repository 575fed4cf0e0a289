// Every file in configs/ is a job or worker file that loads.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "common/job/load.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

TEST_CASE("the sample files load and say what they promise") {
  int jobs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(project_file("configs"))) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    if (entry.path().filename() == "worker.yaml") {
      CHECK(load_worker(path).lead == "tcp://127.0.0.1:7070");
      continue;
    }
    ++jobs;
    CHECK(load_job(path).job == entry.path().stem().string());
  }
  CHECK(jobs >= 4);
  const JobSpec quickstart = load_job(project_file("configs/quickstart.yaml"));
  CHECK(quickstart.data.name == "glyphs");
  CHECK(quickstart.cluster.workers == 2);
  CHECK(quickstart.cluster.start_workers == 2);
}

}  // namespace
}  // namespace ballast::testing
