// What a folder of copies syncs: also the entries of what it makes, without which a power cut takes all that lies
// there.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "storage/copies/place.h"
#include "tests/unit/temporary_folder.h"

namespace {

thread_local std::set<std::string>* synced = nullptr;  // by this thread

}  // namespace

// In the place of the library's, for the whole program.
extern "C" int fsync(int descriptor) {
  if (synced != nullptr) {
    synced->insert(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string());
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace ballast {
namespace {

TEST_CASE("an object is durable with the entries of all folders that were made for it") {
  const TemporaryFolder folder;
  const auto top = std::filesystem::canonical(folder.path());
  std::set<std::string> paths;
  synced = &paths;
  const auto place = make_folder_place((top / "copies").string());
  const auto writer = place->write("job/run-1/set/shard-0");
  REQUIRE(writer.ok());
  CHECK(writer.value()->append("bytes").ok());
  CHECK(writer.value()->finish().ok());
  synced = nullptr;
  CHECK(paths.contains(top.string()));
  for (const std::string made : {"copies", "copies/job", "copies/job/run-1", "copies/job/run-1/set"}) {
    CHECK_MESSAGE(paths.contains((top / made).string()), made);
  }
  CHECK(std::ranges::any_of(paths,
                            [&](const std::string& path) { return path.find("set/shard-0") != std::string::npos; }));
}

}  // namespace
}  // namespace ballast
