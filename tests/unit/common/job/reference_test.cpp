// docs/configuration.md is what the tables of keys say. To write it anew:
//   BALLAST_UPDATE_DOCS=1 build/tests/unit/common/job/config-test
#include "common/job/reference.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "common/job/schema.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

TEST_CASE("docs/configuration.md is up to date") {
  const std::string path = project_file("docs/configuration.md");
  if (std::getenv("BALLAST_UPDATE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << configuration_reference();
  }
  const bool equal = read_whole(path) == configuration_reference();
  CHECK_MESSAGE(equal, "write it anew: BALLAST_UPDATE_DOCS=1 build/tests/unit/common/job/config-test");
}

TEST_CASE("every key is described, and its section exists") {
  JobSpec job;
  WorkerSpec worker;
  for (const auto& schema : {job_schema(job), worker_schema(worker)}) {
    for (const auto& key : schema.keys) {
      CAPTURE(key.path);
      CHECK_FALSE(key.description.empty());
      CHECK_FALSE(key.description.ends_with("."));
      CHECK_FALSE(contains(key.description, "|"));
      const auto dot = key.path.rfind('.');
      CHECK((dot == std::string::npos || schema.is_section(key.path.substr(0, dot))));
      CHECK((key.only_with.key.empty() || schema.find_key(key.only_with.key) != nullptr));
      CHECK(schema.find_key(key.path) == &key);  // no path twice
      CHECK(contains(configuration_reference(), "| `" + key.path + "`"));
    }
  }
}

}  // namespace
}  // namespace ballast::testing
