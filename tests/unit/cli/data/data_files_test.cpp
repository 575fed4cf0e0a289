#include "cli/data/data_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/numeric/sha256.h"
#include "tests/unit/common/download/server.h"
#include "tests/unit/worker/data/files.h"

namespace ballast {
namespace {

using testing::Bytes;
using testing::bytes;
using testing::contains;
using testing::error_of;
using testing::gzip;
using testing::ranged;
using testing::Request;
using testing::Server;
using testing::status;
using testing::text_of;

std::string text(const Bytes& data) { return {data.begin(), data.end()}; }

// A set of two small files, the web server that offers them, and what it is made to offer.
struct DataFilesFixture {
  std::map<std::string, std::string> content = {{"one", std::string(5000, '1')}, {"two", "2 and more"}};
  std::map<std::string, std::string> offered;  // by path
  testing::TemporaryFolder folder;
  Server server{[this](const Request& request) {
    const auto found = offered.find(request.path);
    return found == offered.end() ? status("404 Not Found") : ranged(found->second, request);
  }};
  DataFiles set{"small", {}, {server.url() + "/usual/"}};

  DataFilesFixture() {
    for (const auto& [name, plain] : content) {
      set.files.push_back({name, plain.size(), sha256_hex(plain)});
      offered["/usual/" + name + ".gz"] = text(gzip(bytes(plain)));
    }
  }

  // What is said, with the error's text if there is one.
  std::string said(const std::function<void(std::FILE*)>& call) {
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* out = open_memstream(&buffer, &size);
    const auto error = error_of([&] { call(out); });
    std::fclose(out);
    std::string all(buffer, size);
    std::free(buffer);
    return all + error;
  }
  std::string fetch(const std::vector<std::string>& mirrors = {}, bool terminal = false) {
    return said([&](std::FILE* out) {
      fetch_files(set, folder.path(), {mirrors, std::chrono::seconds(1), out, terminal});
    });
  }
  std::string check(bool expected) {
    return said([&](std::FILE* out) { CHECK(check_files(set, folder.path(), out) == expected); });
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
};

TEST_CASE("what is missing is fetched, and what is good is kept") {
  DataFilesFixture fixture;
  const auto said = fixture.fetch();
  CHECK(contains(said, "one.gz: fetched from " + fixture.server.url() + "/usual/"));
  CHECK(contains(said, "two.gz: fetched"));
  CHECK(fixture.files() == std::vector<std::string>{"one.gz", "two.gz"});
  CHECK(contains(fixture.check(true), "good     one.gz"));
  const auto asked = fixture.server.requests().size();
  CHECK(contains(fixture.fetch(), "nothing to do: " + fixture.folder.path().string() + " holds small, 2 good files"));
  CHECK(fixture.server.requests().size() == asked);
}

TEST_CASE("only the content counts: other gzip headers and plain files are as good") {
  DataFilesFixture fixture;
  fixture.folder.write("one", bytes(fixture.content["one"]));
  auto packed = gzip(bytes(fixture.content["two"]));
  packed[4] ^= 0xFF;  // the header's time of change
  fixture.offered["/usual/two.gz"] = text(packed);
  CHECK_FALSE(contains(fixture.fetch(), "one"));
  CHECK(fixture.files() == std::vector<std::string>{"one", "two.gz"});
  fixture.check(true);
}

TEST_CASE("damaged files are named, kept aside and replaced") {
  DataFilesFixture fixture;
  fixture.folder.write("one", bytes(fixture.content["one"] + "more"));
  auto cut = gzip(bytes(fixture.content["two"]));
  cut.resize(cut.size() - 9);
  fixture.folder.write("two.gz", cut);
  const auto checked = fixture.check(false);
  CHECK(contains(checked, "damaged  one: it holds more than the 5000 bytes of one"));
  CHECK(contains(checked, "damaged  two.gz: byte"));
  CHECK(contains(checked, "cut short"));
  const auto said = fixture.fetch();
  CHECK(contains(said, "one is damaged and kept as one.damaged"));
  CHECK(contains(said, "two.gz is damaged and kept as two.gz.damaged"));
  CHECK(fixture.files() == std::vector<std::string>{"one.damaged", "one.gz", "two.gz", "two.gz.damaged"});
  CHECK(text_of(fixture.folder.path() / "two.gz.damaged") == text(cut));
  fixture.check(true);
}

TEST_CASE("a file of the right length with another content is damaged") {
  DataFilesFixture fixture;
  fixture.folder.write("one", bytes(std::string(5000, '0')));
  CHECK(contains(fixture.check(false), "damaged  one: its content is not that of one (SHA-256 "));
  fixture.folder.write("one", bytes(std::string(4999, '1')));
  CHECK(contains(fixture.check(false), "it holds less than the 5000 bytes"));
  CHECK(contains(fixture.check(false), "missing  two[.gz]"));
}

TEST_CASE("a good packed file behind a damaged plain one need not be fetched") {
  DataFilesFixture fixture;
  fixture.fetch();
  fixture.folder.write("one", bytes("junk"));
  const auto asked = fixture.server.requests().size();
  CHECK(contains(fixture.fetch(), "one is damaged and kept as one.damaged"));
  CHECK(fixture.server.requests().size() == asked);
  fixture.check(true);
}

TEST_CASE("without any mirror, each is named with its reason, and the way by hand") {
  DataFilesFixture fixture;
  fixture.folder.write("one", bytes("junk"));
  fixture.offered["/wrong/one.gz"] = text(gzip(bytes("something else")));
  const auto dead = testing::dead_url();
  const auto said = fixture.fetch({dead, fixture.server.url() + "/nowhere", fixture.server.url() + "/wrong"});
  CHECK(contains(said, "no mirror has a good copy of one.gz"));
  CHECK(contains(said, "  " + dead + ": "));
  CHECK(contains(said, "/nowhere: The requested URL returned error: 404"));
  CHECK(contains(said, "/wrong: it holds less than the 5000 bytes of one"));
  CHECK(contains(said, "put these files by hand into " + fixture.folder.path().string()));
  CHECK(contains(said, "\n  one\n  two"));
  CHECK(fixture.files() == std::vector<std::string>{"one"});  // the damaged one stays where it is
}

TEST_CASE("a mirror of one's own replaces the usual ones, and one that worked is asked first") {
  DataFilesFixture fixture;
  for (const auto& [name, plain] : fixture.content) {
    fixture.offered["/own/" + name + ".gz"] = text(gzip(bytes(plain)));
  }
  fixture.fetch({fixture.server.url() + "/nowhere", fixture.server.url() + "/own"});
  std::vector<std::string> paths;
  for (const auto& request : fixture.server.requests()) {
    paths.push_back(request.path);
  }
  CHECK(paths == std::vector<std::string>{"/nowhere/one.gz", "/own/one.gz", "/own/two.gz"});
  fixture.check(true);
}

TEST_CASE("progress is for terminals only") {
  DataFilesFixture quiet;
  CHECK_FALSE(contains(quiet.fetch(), "\r"));
  DataFilesFixture shown;
  CHECK(contains(shown.fetch({}, true), "\r\x1b[Kone.gz: 0.0 of 0.0 MB"));
}

TEST_CASE("what is no mirror, and folders that cannot be used, are refused") {
  DataFilesFixture fixture;
  CHECK(contains(fixture.fetch({"ftp://example.org"}), "--mirror ftp://example.org: it must begin with http"));
  const auto file = fixture.folder.write("file", bytes("x"));
  const auto said = fixture.said([&](std::FILE* out) {
    fetch_files(fixture.set, file / "below", {{}, std::chrono::seconds(1), out});
  });
  CHECK(contains(said, (file / "below").string() + ": files cannot be put there"));
}

TEST_CASE("two processes do not fetch into one folder at once") {
  DataFilesFixture fixture;
  const int fd = ::open(fixture.folder.path().c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(fd, LOCK_EX) == 0);
  CHECK(contains(fixture.fetch(), "another process is fetching files into this folder"));
  ::close(fd);
  CHECK(contains(fixture.fetch(), "fetched"));
}

TEST_CASE("MNIST's files have the sizes of 60000 and 10000 examples") {
  const auto& files = mnist_files().files;
  REQUIRE(files.size() == 4);
  const std::array<std::uint64_t, 4> sizes = {16 + 60000 * 784, 8 + 60000, 16 + 10000 * 784, 8 + 10000};
  for (std::size_t i = 0; i < files.size(); ++i) {
    CHECK(files[i].bytes == sizes[i]);
    CHECK(files[i].sha256.size() == 64);
  }
  CHECK(mnist_files().mirrors.size() >= 3);
}

}  // namespace
}  // namespace ballast
