#include "common/download/download.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/common/download/server.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using namespace testing;

// No two pieces of it are alike.
std::string content_of(std::size_t size) {
  std::string content;
  for (std::size_t i = 0; content.size() < size; ++i) {
    content += std::to_string(i) + ",";
  }
  content.resize(size);
  return content;
}

const std::string kContent = content_of(300'000);

struct DownloadFixture {
  TemporaryFolder folder;
  std::filesystem::path part = folder.path() / "file.part";
  DownloadLimits limits{1'000'000, std::chrono::seconds(5), std::chrono::seconds(1)};

  DownloadOutcome get(const std::string& url) { return download(url, part, limits, {}); }
};

TEST_CASE("a file is downloaded, and progress told up to its end") {
  DownloadFixture fixture;
  const Server server([](const Request&) { return whole(kContent); });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  const auto outcome = download(server.url() + "/a", fixture.part, fixture.limits,
                                [&](auto have, auto all) { told.emplace_back(have, all); });
  CHECK(outcome.failure.empty());
  CHECK_FALSE(outcome.resumed);
  CHECK(outcome.received == kContent.size());
  CHECK(text_of(fixture.part) == kContent);
  REQUIRE_FALSE(told.empty());
  CHECK(told.back() == std::pair<std::uint64_t, std::uint64_t>(kContent.size(), kContent.size()));
  CHECK(server.requests().size() == 1);
  CHECK_FALSE(server.requests()[0].range_first);
}

TEST_CASE("an empty file is a file") {
  DownloadFixture fixture;
  const Server server([](const Request&) { return whole(""); });
  CHECK(fixture.get(server.url()).failure.empty());
  CHECK(text_of(fixture.part).empty());
}

TEST_CASE("a transfer that broke off goes on where it stopped") {
  DownloadFixture fixture;
  const Server server([](const Request& request) {
    auto response = ranged(kContent, request);
    response.body.resize(std::min<std::size_t>(response.body.size(), 120'000));
    return response;
  });
  for (const std::size_t have : {120'000U, 240'000U}) {
    const auto outcome = fixture.get(server.url());
    CHECK_FALSE(outcome.failure.empty());
    CHECK(outcome.received == 120'000);
    CHECK(text_of(fixture.part) == kContent.substr(0, have));
  }
  const auto last = fixture.get(server.url());
  CHECK(last.failure.empty());
  CHECK(last.resumed);
  CHECK(text_of(fixture.part) == kContent);
  CHECK(server.requests()[2].range_first == 240'000);
}

TEST_CASE("a server that ignores ranges starts the file anew") {
  DownloadFixture fixture;
  fixture.folder.write("file.part", bytes("something else"));
  const Server server([](const Request&) { return whole(kContent); });
  const auto outcome = fixture.get(server.url());
  CHECK(outcome.failure.empty());
  CHECK_FALSE(outcome.resumed);
  CHECK(text_of(fixture.part) == kContent);
}

TEST_CASE("a part at least as long as the server's file is fetched anew") {
  for (const auto& before : {kContent, kContent + "more"}) {
    DownloadFixture fixture;
    fixture.folder.write("file.part", bytes(before));
    const Server server([](const Request& request) { return ranged(kContent, request); });
    const auto outcome = fixture.get(server.url());
    CHECK(outcome.failure.empty());
    CHECK_FALSE(outcome.resumed);
    CHECK(text_of(fixture.part) == kContent);
  }
}

TEST_CASE("another range than the one asked for is not taken") {
  DownloadFixture fixture;
  fixture.folder.write("file.part", bytes("123"));
  const Server server([](const Request&) { return ranged(kContent, {"", 7}); });
  CHECK(contains(fixture.get(server.url()).failure, "another part of the file"));
  CHECK(text_of(fixture.part).empty());
}

TEST_CASE("a status that is no success is told, and what has come stays") {
  DownloadFixture fixture;
  fixture.folder.write("file.part", bytes("123"));
  for (const std::string line : {"404 Not Found", "503 Service Unavailable"}) {
    const Server server([&](const Request&) { return status(line); });
    const auto outcome = fixture.get(server.url());
    CHECK(contains(outcome.failure, line.substr(0, 3)));
    CHECK(outcome.received == 0);
    CHECK(text_of(fixture.part) == "123");
  }
  const Server odd([](const Request&) { return status("204 No Content"); });
  CHECK(contains(fixture.get(odd.url()).failure, "HTTP status 204"));
}

TEST_CASE("a server that stands still is given up in time, before and within the body") {
  DownloadFixture fixture;
  for (const std::string& start : {std::string(), kContent.substr(0, 5000)}) {
    const Server server([&](const Request&) {
      auto response = whole(kContent);
      response.body = start;
      response.stands_still = true;
      return response;
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto outcome = fixture.get(server.url());
    CHECK(contains(outcome.failure, "stalled: less than 1 KiB a second for 1 s"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    CHECK(text_of(fixture.part) == start);
  }
}

TEST_CASE("nobody there is a failure with a reason") {
  DownloadFixture fixture;
  const auto outcome = fixture.get(dead_url());
  CHECK(contains(outcome.failure, "connect"));
  CHECK(outcome.received == 0);
}

TEST_CASE("a file without end is given up at the limit, and leaves nothing") {
  DownloadFixture fixture;
  fixture.limits.bytes = kContent.size() - 1;
  const Server server([](const Request&) { return whole(kContent); });
  CHECK(contains(fixture.get(server.url()).failure, "larger than 299999 bytes"));
  CHECK(text_of(fixture.part).empty());
  fixture.limits.bytes = kContent.size();
  CHECK(fixture.get(server.url()).failure.empty());
}

TEST_CASE("redirects are followed, but not for ever, and not to other schemes") {
  DownloadFixture fixture;
  const auto secret = fixture.folder.write("secret", bytes("secret"));
  const Server server([&](const Request& request) {
    if (request.path == "/there") {
      return whole(kContent);
    }
    const auto to = request.path == "/loop"   ? "/loop"
                    : request.path == "/file" ? "file://" + secret.string()
                                              : "/there";
    return Response{"HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 0", ""};
  });
  CHECK(fixture.get(server.url() + "/here").failure.empty());
  CHECK(text_of(fixture.part) == kContent);
  for (const auto* path : {"/loop", "/file"}) {
    CHECK_FALSE(fixture.get(server.url() + path).failure.empty());
  }
  CHECK_FALSE(fixture.get("file://" + secret.string()).failure.empty());
  CHECK_FALSE(fixture.get("not an address").failure.empty());
  CHECK(text_of(fixture.part) == kContent);
}

TEST_CASE("a part that cannot be written is an error that names it") {
  DownloadFixture fixture;
  const Server server([](const Request&) { return whole(kContent); });
  fixture.part = fixture.folder.path() / "no-such-folder" / "file.part";
  CHECK(contains(error_of([&] { fixture.get(server.url()); }), "cannot write " + fixture.part.string()));
  fixture.part = "/dev/full";
  CHECK(contains(error_of([&] { fixture.get(server.url()); }), "/dev/full"));
}

}  // namespace
}  // namespace ballast
