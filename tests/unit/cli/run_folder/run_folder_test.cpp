#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "cli/run_folder/run_folder.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

TEST_CASE("new run folders of one second have names of their own") {
  const TemporaryFolder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path());
  const RunFolder one({}, "job");
  const RunFolder two({}, "job");
  const RunFolder three({}, "job");
  CHECK(one.path() != two.path());
  CHECK(two.path() != three.path());
  CHECK(one.path().is_absolute());
  CHECK(one.shown().starts_with("runs/job-2"));
  CHECK(fs::is_directory(three.path() / "logs"));
  fs::current_path(before);
}

TEST_CASE("a wanted folder is used unless it holds a database") {
  const TemporaryFolder folder;
  const auto wanted = (folder.path() / "deep" / "run").string();
  const auto path = RunFolder(wanted, "job").path();
  std::ofstream(path / "notes.txt") << "mine";
  CHECK_NOTHROW(RunFolder(wanted, "job"));
  CHECK(fs::exists(path / "notes.txt"));
  fs::create_directory(path / "shard-1");
  CHECK_NOTHROW(RunFolder(wanted, "job"));  // an empty folder is no database
  std::ofstream(path / "shard-1" / "CURRENT") << "x";
  CHECK_THROWS_AS(RunFolder(wanted, "job"), std::runtime_error);
  CHECK(read_file(path / "shard-1" / "CURRENT") == "x");
}

TEST_CASE("a run that is refused does not forget where the lead is") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "job.yaml") << "job: x";
  std::ofstream(folder.path() / "lead.address") << "tcp://127.0.0.1:1";
  const auto again = RunFolder::of_earlier_run(folder.path().string());
  CHECK(fs::exists(again.address_file()));
  again.begin();
  CHECK_FALSE(fs::exists(again.address_file()));
}

TEST_CASE("a run was never started where no run had the folder, and no lead was reached") {
  const TemporaryFolder folder;
  CHECK_FALSE(was_never_started(folder.path()));  // no run's
  mark_run_folder(folder.path());
  CHECK(was_never_started(folder.path()));
  std::ofstream(folder.path() / "lead.address") << "tcp://127.0.0.1:1";
  CHECK_FALSE(was_never_started(folder.path()));
  fs::remove(folder.path() / "lead.address");
  std::ofstream(folder.path() / "job.yaml") << "job: x";
  static_cast<void>(RunFolder::of_earlier_run(folder.path().string()));
  CHECK_FALSE(was_never_started(folder.path()));
}

TEST_CASE("a pipe, device or link is written to, not replaced") {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);  // holds it open: nobody waits
  REQUIRE(reader >= 0);
  write_atomically(pipe, "one");
  CHECK(fs::is_fifo(pipe));
  std::array<char, 8> read{};
  CHECK(::read(reader, read.data(), read.size()) == 3);
  CHECK(std::string(read.data()) == "one");
  ::close(reader);

  fs::create_symlink(folder.path() / "target", folder.path() / "link");
  write_atomically(folder.path() / "link", "two");
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(read_file(folder.path() / "target") == "two");
}

TEST_CASE("a folder that cannot be made is refused with the reason") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  CHECK_THROWS_AS(RunFolder((folder.path() / "file").string(), "job"), std::runtime_error);
  CHECK_THROWS_AS(RunFolder((folder.path() / "file" / "run").string(), "job"), std::runtime_error);
}

TEST_CASE("sockets live in the run's folder, or elsewhere if their paths would be too long") {
  const TemporaryFolder folder;
  {
    const SocketFolder sockets(folder.path(), 3, 2);
    CHECK(sockets.lead_address() == "ipc://" + (folder.path() / "sockets" / "lead").string());
    CHECK(fs::is_directory(folder.path() / "sockets"));
  }
  CHECK_FALSE(fs::exists(folder.path() / "sockets"));
  const auto deep = folder.path() / std::string(100, 'd');
  fs::create_directory(deep);
  std::string elsewhere;
  {
    const SocketFolder sockets(deep, 64, 16);
    elsewhere = fs::path(sockets.lead_address().substr(6)).parent_path();
    CHECK(fs::is_directory(elsewhere));
    CHECK(elsewhere.find(std::string(100, 'd')) == std::string::npos);
    CHECK((sockets.shard_address(63) + "-l15").size() - 6 <= 107);
    CHECK((fs::status(elsewhere).permissions() & fs::perms::others_all) == fs::perms::none);
  }
  CHECK_FALSE(fs::exists(elsewhere));
}

TEST_CASE("a file is written whole or not at all") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  write_atomically(file, "one");
  write_atomically(file, "two");
  CHECK(read_file(file) == "two");
  CHECK_THROWS_AS(write_atomically(folder.path() / "no" / "file", "x"), std::runtime_error);
}

}  // namespace
}  // namespace ballast
