#include "common/download/mirrors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/common/download/server.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using namespace testing;

const std::string kGood(50'000, 'g');

struct MirrorsFixture {
  TemporaryFolder folder;
  MirroredFile file{"file.gz",
                    folder.path() / "file.gz",
                    {1'000'000, std::chrono::seconds(5), std::chrono::seconds(1)},
                    [](const auto& path) { return text_of(path) == kGood ? "" : "it is not the file wanted"; }};

  MirrorOutcome fetch(const std::vector<std::string>& mirrors) { return fetch_from_mirrors(file, mirrors, {}); }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
};

Server good() {
  return Server([](const Request& request) { return ranged(kGood, request); });
}

TEST_CASE("the first mirror that has the file is the last one asked") {
  MirrorsFixture fixture;
  const auto nobody = dead_url();
  const Server missing([](const Request&) { return status("404 Not Found"); });
  const Server other([](const Request&) { return whole("other content"); });
  const auto server = good();
  const auto unused = good();
  const auto outcome =
      fixture.fetch({nobody, missing.url(), other.url() + "/", server.url() + "/mnist/", unused.url()});
  CHECK(outcome.mirror == server.url() + "/mnist/");
  REQUIRE(outcome.failures.size() == 3);
  CHECK(outcome.failures[0].mirror == nobody);
  CHECK(contains(outcome.failures[0].reason, "connect"));
  CHECK(contains(outcome.failures[1].reason, "404"));
  CHECK(outcome.failures[2].reason == "it is not the file wanted");
  CHECK(other.requests().size() == 1);
  CHECK(other.requests()[0].path == "/file.gz");
  CHECK(server.requests()[0].path == "/mnist/file.gz");
  CHECK(unused.requests().empty());
  CHECK(text_of(fixture.file.target) == kGood);
  CHECK(fixture.files() == std::vector<std::string>{"file.gz"});
}

TEST_CASE("a transfer that breaks off is taken up again at once, and by the next call") {
  MirrorsFixture fixture;
  int answers = 0;
  const Server server([&](const Request& request) {
    auto response = ranged(kGood, request);
    response.body.resize(std::min<std::size_t>(response.body.size(), 10'000));
    ++answers;
    return response;
  });
  const auto first = fixture.fetch({server.url()});
  CHECK(first.mirror.empty());
  CHECK(answers == 3);
  REQUIRE(fixture.files().size() == 1);
  CHECK(fixture.files()[0].ends_with(".part"));
  CHECK(std::filesystem::file_size(fixture.folder.path() / fixture.files()[0]) == 30'000);
  CHECK(fixture.fetch({server.url()}).mirror == server.url());
  CHECK(answers == 5);
  CHECK(server.requests()[3].range_first == 30'000);
  CHECK(fixture.files() == std::vector<std::string>{"file.gz"});
}

TEST_CASE("two mirrors' copies are never mixed") {
  MirrorsFixture fixture;
  const Server breaks([](const Request&) {
    auto response = whole(std::string(50'000, 'x'));
    response.body.resize(20'000);
    return response;
  });
  const auto server = good();
  CHECK(fixture.fetch({breaks.url()}).mirror.empty());
  CHECK(fixture.fetch({server.url()}).mirror == server.url());
  CHECK_FALSE(server.requests()[0].range_first);
  CHECK(text_of(fixture.file.target) == kGood);
  CHECK(fixture.files() == std::vector<std::string>{"file.gz"});
}

TEST_CASE("a copy that changed between two attempts is fetched anew") {
  MirrorsFixture fixture;
  bool changed = false;
  const Server server([&](const Request& request) {
    auto response = ranged(changed ? kGood : std::string(50'000, 'x'), request);
    if (!changed) {
      response.body.resize(request.range_first ? 0 : 20'000);
    }
    return response;
  });
  CHECK(fixture.fetch({server.url()}).mirror.empty());
  changed = true;
  CHECK(fixture.fetch({server.url()}).mirror == server.url());
  CHECK(text_of(fixture.file.target) == kGood);
}

TEST_CASE("a mirror with nothing but wrong content leaves the old file and no part") {
  MirrorsFixture fixture;
  fixture.folder.write("file.gz", {'o', 'l', 'd'});
  const Server other([](const Request& request) { return ranged("other content", request); });
  bool called = false;
  const auto outcome = fetch_from_mirrors(fixture.file, {other.url()}, {}, [&] { called = true; });
  CHECK(outcome.mirror.empty());
  CHECK_FALSE(called);
  CHECK(text_of(fixture.file.target) == "old");
  CHECK(fixture.files() == std::vector<std::string>{"file.gz"});
}

TEST_CASE("the old file is there until the new one replaces it") {
  MirrorsFixture fixture;
  fixture.folder.write("file.gz", {'o', 'l', 'd'});
  const auto server = good();
  std::string seen;
  CHECK(fetch_from_mirrors(fixture.file, {server.url()}, {}, [&] { seen = text_of(fixture.file.target); }).mirror ==
        server.url());
  CHECK(seen == "old");
  CHECK(text_of(fixture.file.target) == kGood);
}

TEST_CASE("a target that cannot be written is an error that names it") {
  MirrorsFixture fixture;
  const auto server = good();
  fixture.file.target = fixture.folder.path() / "no-such-folder" / "file.gz";
  CHECK(contains(error_of([&] { fixture.fetch({server.url()}); }), "cannot write " + fixture.file.target.string()));
}

}  // namespace
}  // namespace ballast
