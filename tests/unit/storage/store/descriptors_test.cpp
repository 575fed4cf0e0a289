// Storage in a process that has no file descriptor left.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "storage/journal/journal.h"
#include "storage/journal/journal_files.h"
#include "storage/store/store.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

constexpr std::size_t kValue = 1U << 20U;
constexpr int kMost = 64;  // values: more than a database holds in memory

// Every descriptor is taken until this goes.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    auto few = before_;
    few.rlim_cur = 256;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    for (int one = ::open("/dev/null", O_RDONLY); one >= 0; one = ::open("/dev/null", O_RDONLY)) {
      taken_.push_back(one);
    }
  }
  ~NoDescriptors() {
    for (const int one : taken_) {
      ::close(one);
    }
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

std::string value(int number) { return std::string(kValue, static_cast<char>('a' + number % 26)); }

TEST_CASE("a database that wants a file and gets none may be written later, and has lost nothing") {
  const TemporaryFolder folder;
  auto opened = open_rocksdb(folder.path() / "database", OpenMode::create);
  REQUIRE(opened.ok());
  auto& store = *opened.value();
  int written = 0;
  const auto write = [&] {
    return store.write(WriteBatch{}.put("k" + std::to_string(written), value(written)), Sync::yes);
  };
  {
    const NoDescriptors none;
    StoreStatus status;
    while (written < kMost && (status = write()).ok()) {
      ++written;
    }
    REQUIRE(written < kMost);
    CHECK(status.code() == StoreCode::no_descriptor);
    CHECK(may_work_later(status.code()));
    CHECK(status.text().find("raise the limit of open files") != std::string::npos);
    CHECK(write().code() == StoreCode::no_descriptor);
  }
  const auto now = write();
  CHECK_MESSAGE(now.ok(), now.text());
  for (int number = 0; number <= written; ++number) {
    const auto found = store.get("k" + std::to_string(number));
    REQUIRE(found.ok());
    REQUIRE(found.value());
    CHECK(*found.value() == value(number));
  }
}

TEST_CASE("a database that cannot be opened for want of descriptors is not called damaged") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "database";
  {
    auto opened = open_rocksdb(path, OpenMode::create);
    REQUIRE(opened.ok());
    for (int number = 0; number < kMost; ++number) {
      REQUIRE(opened.value()->write(WriteBatch{}.put("k" + std::to_string(number), value(number)), Sync::yes).ok());
    }
  }
  for (const auto mode : {OpenMode::create, OpenMode::existing, OpenMode::read_only}) {
    const NoDescriptors none;
    const auto opened = open_rocksdb(path, mode);
    REQUIRE_FALSE(opened.ok());
    CHECK_MESSAGE(opened.status().code() == StoreCode::no_descriptor, opened.status().text());
  }
  // As few as let it begin, and not come to its end.
  for (int spare = 1; spare < 24; ++spare) {
    StoreStatus status;
    {
      std::vector<int> kept;
      for (int i = 0; i < spare; ++i) {
        kept.push_back(::open("/dev/null", O_RDONLY));
      }
      const NoDescriptors none;
      for (const int one : kept) {
        ::close(one);
      }
      const auto opened = open_rocksdb(path, OpenMode::existing);
      status = opened.ok() ? StoreStatus{} : opened.status();
    }
    if (!status.ok()) {
      CHECK_MESSAGE(status.code() == StoreCode::no_descriptor, spare << ": " << status.text());
    }
  }
  const auto opened = open_rocksdb(path, OpenMode::existing);
  REQUIRE(opened.ok());
  CHECK(opened.value()->get("k0").value() == value(0));
}

TEST_CASE("so with a journal") {
  const TemporaryFolder folder;
  std::unique_ptr<JournalFile> file;
  const NoDescriptors none;
  const auto error = system_journal_files().create(folder.path() / "segment", file);
  const auto status = file_status(folder.path(), "make a file of the journal", error);
  CHECK(status.code() == StoreCode::no_descriptor);
  CHECK(status.text().find("raise the limit of open files") != std::string::npos);
}

}  // namespace
}  // namespace ballast
