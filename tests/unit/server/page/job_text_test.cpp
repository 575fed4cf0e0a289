#include "server/page/job_text.h"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace ballast {
namespace {

nlohmann::json parsed(const std::string& fields) { return nlohmann::json::parse("{" + fields + "}"); }

SessionStatus session(SessionId id, std::string name, bool live = true) {
  SessionStatus status;
  status.session = id;
  status.name = std::move(name);
  status.live = live;
  return status;
}

TEST_CASE("whatever a name holds, the text is JSON of ASCII alone") {
  JobView view;
  view.status.job = "a\"</script><!--\xff\n";
  view.status.sessions = {session(1, "<img src=x onerror=alert(1)>"), session(~SessionId{0}, "\xe2\x80\xa8 \\u0000")};
  view.status.recent_loss = std::numeric_limits<double>::quiet_NaN();
  const auto text = job_text(view, {~SessionId{0}});
  for (const char letter : text) {
    CHECK(static_cast<unsigned char>(letter) < 0x80);
  }
  const auto json = parsed(text);
  CHECK(json["job"]["recent_loss"].is_null());
  CHECK(json["workers"][0][0] == "<img src=x onerror=alert(1)>");
  CHECK(json["workers"][0][2] == -1);
  CHECK(json["workers"][1][1] == "18446744073709551615");  // more than a number of JavaScript holds
  CHECK(json["workers"][1][2] == 0);
}

TEST_CASE("of workers the live ones come first, and only so many") {
  JobView view;
  view.status.sessions = {session(1, "gone", false), session(2, "refused", false)};
  view.status.sessions[1].refusal = "other data";
  for (SessionId id = 10; id < 10 + kPageWorkers + 4; ++id) {
    view.status.sessions.push_back(session(id, "w"));
  }
  const auto json = parsed(job_text(view, {}));
  CHECK(json["workers"].size() == kPageWorkers);
  CHECK(json["workers_beyond"] == 5);
  view.status.sessions.resize(3);
  const auto few = parsed(job_text(view, {}))["workers"];
  REQUIRE(few.size() == 2);  // of the gone one an event tells
  CHECK(few[1][0] == "refused");
  CHECK(few[1][10] == "refused: other data");
}

TEST_CASE("shards say how they are") {
  JobView view;
  view.at = 5'000'000;
  view.shards = {{2, 1, true, 4'000'000, 6, 7}, {}};
  const auto json = parsed(job_text(view, {}));
  CHECK(json["shards"][0] == nlohmann::json::parse("[2,1,true,1,6,7]"));
  CHECK(json["shards"][1][3].is_null());
}

TEST_CASE("a history is told in seconds, with numbers by which it is put together") {
  History::Part history;
  history.counts = {0, 8, 5, 3};
  history.first_point = 7;
  history.points = {{2'500'000, 9, std::numeric_limits<double>::quiet_NaN(), 1'234'567.8, 2}};
  history.events = {{3'000'000, 4, "phase", "a \"b\"", true}};
  history.snapshots = {{1'500'000, 8}};
  Lateness::Part late;
  late.from = 6;
  late.columns = {{1, 2, 2'000'000, 2'600'000, {1, 2, 255}}, {3, 3, 2'600'000, 0, {}}};
  const auto json = parsed(history_text(history, late, 500'000));
  CHECK(json["points"] == nlohmann::json::parse(R"({"from":7,"list":[[2,9,null,1.23457e6,2]]})"));
  CHECK(json["events"] == nlohmann::json::parse(R"({"from":4,"list":[[2.5,4,"phase","a \"b\"",true]]})"));
  CHECK(json["snapshots"] == nlohmann::json::parse(R"({"from":2,"list":[[1,8]]})"));
  CHECK(json["late"] == nlohmann::json::parse(R"({"from":6,"list":[[1,2,1.5,0.6,"AQL/"],[3,3,2.1,null,""]]})"));
}

TEST_CASE("base 64 as in RFC 4648") {
  const auto of = [](const std::string& text) { return base64({text.begin(), text.end()}); };
  CHECK(of("").empty());
  CHECK(of("f") == "Zg==");
  CHECK(of("fo") == "Zm8=");
  CHECK(of("foo") == "Zm9v");
  CHECK(of("foobar") == "Zm9vYmFy");
}

}  // namespace
}  // namespace ballast
