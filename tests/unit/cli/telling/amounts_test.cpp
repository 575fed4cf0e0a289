// Amounts and units for people.
#include "common/telling/amounts.h"

#include <doctest/doctest.h>

#include "cli/asking/status.h"
#include "cli/telling/target_units.h"

namespace ballast {
namespace {

TEST_CASE("one of a thing is not told as many") {
  CHECK(count_text(0, "step") == "0 steps");
  CHECK(count_text(1, "step") == "1 step");
  CHECK(count_text(2, "step") == "2 steps");
  CHECK(count_text(1, "recovery", "recoveries") == "1 recovery");
  CHECK(count_text(3, "recovery", "recoveries") == "3 recoveries");
  Status status;
  status.job = "small";
  status.mode = "sync";
  status.epochs = status.rollbacks = status.rollback_causes.shard = status.rolled_back_steps = 1;
  status.resumed_shards = status.skipped_steps = status.snapshots_missed = 1;
  const auto text = status_lines(status);
  CHECK(text.find("0 of 1 epoch done") != std::string::npos);
  CHECK(text.find("1 recovery (a shard could not go on: 1), 1 step trained again; 1 shard came back within a timeline; "
                  "1 step skipped; 1 snapshot missed") != std::string::npos);
}

TEST_CASE("errors say their units, and one target's root mean squared error is told in its own") {
  DataSpec data;
  data.name = "csv";
  data.columns = {{"age"}, {"price", CsvColumn::Kind::target, 100, 50}};
  const std::vector<Metric> metrics = {{MetricKind::squared_error, 0.25}, {MetricKind::absolute_error, 0.5}};
  CHECK(units_text(metrics, &data) == "errors are in normalised units; root mean squared error of price 25");
  CHECK(units_text(metrics, nullptr) == "errors are in the units that the network is trained on");
  CHECK(units_text({{MetricKind::top5, 1}}, &data).empty());
  data.columns[1].mean = 0;
  data.columns[1].deviation = 1;
  CHECK(units_text(metrics, &data) == "errors are in the targets' own units; root mean squared error of price 0.5");
  data.columns.push_back({"rent", CsvColumn::Kind::target, 0, 2});
  CHECK(units_text(metrics, &data) == "errors are in normalised units");  // of which each one's share is not told
  Status status;
  status.test.evaluated = true;
  status.test_metrics = metrics;
  CHECK(status_lines(status, {}, &data).find("(errors are in normalised units), at step 0") != std::string::npos);
}

}  // namespace
}  // namespace ballast
