#include "server/page/page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "common/net/clock.h"

namespace ballast {
namespace {

HttpRequest request(std::string path, std::string query = {}) {
  HttpRequest made;
  made.path = std::move(path);
  made.query = std::move(query);
  return made;
}

std::string body_of(const HttpAnswer& answer) {
  std::string body;
  for (const auto& part : answer.body) {
    body += part ? *part : "";
  }
  return body;
}

nlohmann::json json_of(const std::optional<HttpAnswer>& answer) {
  REQUIRE(answer);
  REQUIRE(answer->status == 200);
  return nlohmann::json::parse(body_of(*answer));
}

// A status as the lead tells it.
void tell(Page& page, Step step) {
  Status status;
  status.step = step;
  page.history().note(status, monotonic_micros());
  page.line().show({status, {}, monotonic_micros()});
}

TEST_CASE("the page comes with a policy that runs nothing but its own script") {
  Page page("127.0.0.1:0");
  const auto answer = page.answer(request("/"));
  REQUIRE(answer);
  CHECK(body_of(*answer).starts_with("<!DOCTYPE html>"));
  const auto& [name, policy] = answer->headers.front();
  CHECK(name == "Content-Security-Policy");
  CHECK(policy.find("default-src 'none'") != std::string::npos);
  CHECK(policy.find("script-src 'sha256-") != std::string::npos);
  CHECK(policy.find("unsafe") == std::string::npos);
}

TEST_CASE("whoever asks, the lead is asked for one view") {
  Page page("127.0.0.1:0");
  CHECK_FALSE(page.answer(request("/job.json")));
  CHECK(page.line().is_view_wanted());
  tell(page, 1);
  const auto first = json_of(page.answer(request("/job.json")));
  CHECK(first["all"] == true);
  CHECK(first["job"]["step"] == 1);
  tell(page, 2);  // it was not asked for, but is there
  CHECK(json_of(page.answer(request("/job.json")))["mark"] != first["mark"]);
  CHECK_FALSE(page.line().is_view_wanted());
}

TEST_CASE("who has a mark is told what has come since; who has another one, everything") {
  Page page("127.0.0.1:0");
  for (Step step = 0; step < 10; ++step) {
    tell(page, step);
  }
  page.lateness().contributed(1, 1, 1, 1'000'000);
  page.lateness().contributed(1, 1, 2, 2'000'000);
  const auto first = json_of(page.answer(request("/job.json", "since=deadbeef-1")));
  CHECK(first["all"] == true);
  CHECK(first["points"]["list"].size() == 3);
  CHECK(first["late"]["list"].size() == 2);
  const auto query = "since=" + first["mark"].get<std::string>();
  page.lateness().contributed(1, 1, 3, 3'000'000);
  tell(page, 10);
  const auto next = json_of(page.answer(request("/job.json", query)));
  CHECK(next["all"] == false);
  CHECK(next["points"]["from"] == 2);
  CHECK(next["points"]["list"].size() == 1);
  CHECK(next["late"]["from"] == 1);
  CHECK(next["late"]["list"].size() == 2);
  for (std::size_t i = 0; i < Page::kMarks; ++i) {
    tell(page, 11);
    CHECK(page.answer(request("/job.json")));
  }
  CHECK(json_of(page.answer(request("/job.json", query)))["all"] == true);  // that is long ago
}

TEST_CASE("texts are shared by all who are told the same") {
  Page page("127.0.0.1:0");
  tell(page, 1);
  const auto one = page.answer(request("/job.json"));
  const auto other = page.answer(request("/job.json", "since=nonsense"));
  REQUIRE(one);
  REQUIRE(other);
  CHECK(one->body[1] == other->body[1]);
  CHECK(one->body[3] == other->body[3]);
}

TEST_CASE("what another site's page asks for is not made") {
  Page page("127.0.0.1:0");
  for (const char* site : {"cross-site", "same-site"}) {
    auto asked = request("/analysis.json", "ask=1");
    asked.fetch_site = site;
    asked.is_meant = true;
    CHECK(page.answer(asked)->status == 403);
    asked.path = "/";
    CHECK(page.answer(asked)->status == 200);  // a link leads there
  }
  CHECK(page.answer(request("/analysis.json", "ask=1"))->status == 403);  // any site's page can ask so
  CHECK(json_of(page.answer(request("/analysis.json")))["asking"] == false);
  CHECK(page.answer(request("/job"))->status == 404);
  CHECK(page.answer(request("//job.json"))->status == 404);
}

TEST_CASE("an analysis is begun by who asks for one, and has an answer where there is no lead") {
  Page page("127.0.0.1:0");
  auto head = request("/analysis.json", "ask=1");
  head.is_head = true;
  CHECK(json_of(page.answer(head))["asking"] == false);
  auto asked = request("/analysis.json", "ask=1");
  asked.is_meant = true;
  CHECK(json_of(page.answer(asked))["asking"] == true);
  while (!page.line().is_view_wanted()) {
    std::this_thread::yield();
  }
  // The page ends while the lead is waited for.
}

}  // namespace
}  // namespace ballast
