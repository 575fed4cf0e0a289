#include "worker/data/tar.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/worker/data/pictures.h"

namespace ballast {
namespace {

using namespace testing;

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

const Bytes kEnd(1024);

struct Read {
  std::string path;
  Bytes content;
  bool operator==(const Read&) const = default;
};

std::vector<Read> read_all(const std::filesystem::path& path) {
  TarReader reader(path);
  std::vector<Read> files;
  while (const auto file = reader.next()) {
    Bytes content(static_cast<std::size_t>(file->size));
    reader.read(content);
    files.push_back({file->path, content});
  }
  return files;
}

TEST_CASE("an archive gives its files, plain and compressed") {
  const TemporaryFolder folder;
  const Bytes large(1500, 7);
  const auto archive = tar({{"a/one", bytes_of("first")}, {"a/empty", {}}, {"b/two", large}});
  const std::vector<Read> expected = {{"a/one", bytes_of("first")}, {"a/empty", {}}, {"b/two", large}};
  CHECK(read_all(folder.write("plain.tar", archive)) == expected);
  CHECK(read_all(folder.write("packed.tar.gz", gzip(archive))) == expected);
}

TEST_CASE("an offset is where a file's content lies, and what is not read is passed over") {
  const TemporaryFolder folder;
  const auto archive = tar({{"a/one", bytes_of("first")}, {"a/two", bytes_of("second")}});
  TarReader reader(folder.write("a.tar", archive));
  CHECK(reader.next()->offset == 512);
  const auto second = reader.next();
  REQUIRE(second);
  CHECK(second->path == "a/two");
  CHECK(std::string(archive.begin() + static_cast<std::ptrdiff_t>(second->offset),
                    archive.begin() + static_cast<std::ptrdiff_t>(second->offset + second->size)) == "second");
  CHECK(!reader.next());
}

TEST_CASE("long names of pax and GNU, and prefixes, are read; folders and links are passed over") {
  const TemporaryFolder folder;
  const std::string name(200, 'n');
  const std::string record = " path=" + name + "/x\n";
  const auto archive =
      joined({tar_entry("folder/", '5', {}), tar_entry("link", '2', {}),
              tar_entry("PaxHeader", 'x', bytes_of(std::to_string(record.size() + 3) + record)),
              tar_entry("short", '0', bytes_of("p")), tar_entry("././@LongLink", 'L', bytes_of(name + "/y" + '\0')),
              tar_entry("short", '0', bytes_of("g")), tar_entry("after", '0', {}), kEnd});
  CHECK(read_all(folder.write("a.tar", archive)) ==
        std::vector<Read>{{name + "/x", bytes_of("p")}, {name + "/y", bytes_of("g")}, {"after", {}}});
}

TEST_CASE("an archive that is cut short anywhere is refused") {
  const TemporaryFolder folder;
  const auto archive = tar({{"a/one", bytes_of("first")}, {"a/two", bytes_of("second")}});
  for (std::size_t length = 0; length < archive.size() - 512; length += 64) {
    const auto path = folder.write("a.tar", {archive.begin(), archive.begin() + static_cast<std::ptrdiff_t>(length)});
    const auto error = error_of([&] { read_all(path); });
    CAPTURE(length);
    CHECK(contains(error, "a.tar, byte " + std::to_string(length) + ": the archive is cut short"));
  }
}

TEST_CASE("damage is told with its byte") {
  const TemporaryFolder folder;
  auto archive = tar({{"a/one", bytes_of("first")}, {"a/two", bytes_of("second")}});
  archive[1024 + 3] ^= 1U;
  CHECK(contains(error_of([&] { read_all(folder.write("a.tar", archive)); }),
                 "byte 1024: a header is damaged: its checksum is wrong"));
  CHECK(contains(error_of([&] { read_all(folder.write("b.tar", Bytes(600, 'x'))); }), "this is no tar archive"));
  const auto pax = joined({tar_entry("h", 'x', bytes_of("99 path=a\n")), kEnd});
  CHECK(contains(error_of([&] { read_all(folder.write("c.tar", pax)); }), "a pax record is damaged"));
}

}  // namespace
}  // namespace ballast
