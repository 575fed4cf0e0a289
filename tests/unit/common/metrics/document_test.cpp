#include <doctest/doctest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "common/metrics/metrics_table.h"

namespace ballast {
namespace {

TEST_CASE("docs/metrics.md is the table (BALLAST_UPDATE=1 writes it)") {
  if (std::getenv("BALLAST_UPDATE") != nullptr) {
    std::ofstream(BALLAST_METRICS_DOCUMENT) << metrics_document();
  }
  std::ifstream file(BALLAST_METRICS_DOCUMENT);
  std::stringstream content;
  content << file.rdbuf();
  CHECK_MESSAGE(content.str() == metrics_document(),
                "docs/metrics.md differs from common/metrics/metrics_table.cpp; run this test with BALLAST_UPDATE=1");
}

TEST_CASE("names follow Prometheus' conventions and are unique") {
  std::set<std::string_view> seen;
  for (const auto& entry : metrics_table()) {
    CAPTURE(entry.name);
    CHECK(seen.insert(entry.name).second);
    CHECK(entry.name.starts_with("ballast_"));
    for (const char letter : entry.name) {
      CHECK((std::islower(static_cast<unsigned char>(letter)) != 0 || letter == '_'));
    }
    CHECK(entry.name.ends_with("_total") == (entry.type == MetricType::counter));
    CHECK(entry.help.ends_with('.'));
    if (entry.unit == "seconds") {
      CHECK((entry.name.ends_with("_seconds") || entry.name.ends_with("_seconds_total")));
    }
    if (entry.unit == "bytes") {
      CHECK((entry.name.ends_with("_bytes") || entry.name.ends_with("_bytes_total")));
    }
    CHECK(find_metric(entry.name) == &entry);
  }
  CHECK(find_metric("ballast") == nullptr);
}

}  // namespace
}  // namespace ballast
