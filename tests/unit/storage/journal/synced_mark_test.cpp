#include "storage/journal/synced_mark.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace ballast {
namespace {

class MarkFolder {
 public:
  MarkFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ballast-mark-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~MarkFolder() { std::filesystem::remove_all(path_); }
  MarkFolder(const MarkFolder&) = delete;
  MarkFolder& operator=(const MarkFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_ / kSyncedMarkFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) const { std::ofstream(path_ / kSyncedMarkFile, std::ios::binary) << content; }

 private:
  std::filesystem::path path_;
};

// A mark whose two slots tell of operations 5 and 9.
std::string marked(const MarkFolder& folder) {
  auto mark = SyncedMark::open(folder.path());
  REQUIRE(mark.ok());
  mark.value()->raise(5);
  mark.value()->raise(9);
  return folder.content();
}

// "BLSY" u32 version, of the slot that begins there.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kSecondSlot = 512;

TEST_CASE("a mark of another version is refused by both numbers, and stays as it is") {
  const MarkFolder folder;
  const auto ours = marked(folder);
  for (const char version : {'\0', '\2'}) {
    for (const std::size_t slot : {std::size_t{0}, kSecondSlot}) {
      CAPTURE(slot);
      auto other = ours;
      other[slot + kVersionAt] = version;
      other[slot + 20] = static_cast<char>(other[slot + 20] + 1);  // what else it holds is that version's affair
      folder.write(other);
      const auto read = SyncedMark::read(folder.path());
      REQUIRE_FALSE(read.ok());
      CHECK(read.status().code() == StoreCode::mismatch);
      CHECK(read.status().text().find("has version " + std::to_string(version) +
                                      ", and this program reads version 1") != std::string::npos);
      const auto opened = SyncedMark::open(folder.path());
      REQUIRE_FALSE(opened.ok());
      CHECK(opened.status().code() == StoreCode::mismatch);
      CHECK(folder.content() == other);
    }
  }
}

TEST_CASE("a slot that is ours but for a flipped bit of its version is a damaged one") {
  const MarkFolder folder;
  auto bytes = marked(folder);
  bytes[kVersionAt] = '\3';
  folder.write(bytes);
  const auto other_slot = SyncedMark::read(folder.path());
  REQUIRE(other_slot.ok());
  bytes[kSecondSlot + kVersionAt] = '\3';
  folder.write(bytes);
  const auto neither = SyncedMark::read(folder.path());
  REQUIRE_FALSE(neither.ok());
  CHECK(neither.status().code() == StoreCode::corrupt);
}

}  // namespace
}  // namespace ballast
