#include "common/keys/key_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/command/usage_error.h"
#include "common/files/file_change.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

template <typename Call>
std::string refusal_of_keys(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a key is forty characters of Z85, and nothing else is") {
  const auto pair = make_key_pair();
  CHECK(is_key(pair.public_key));
  CHECK(is_key(pair.secret_key));
  CHECK(pair.public_key != make_key_pair().public_key);
  CHECK(public_key_of(pair.secret_key) == pair.public_key);
  const auto& key = pair.public_key;
  CHECK_FALSE(is_key(""));
  CHECK_FALSE(is_key(key.substr(1)));
  CHECK_FALSE(is_key(key + "0"));
  CHECK_FALSE(is_key("\"" + key.substr(1)));
  CHECK_FALSE(is_key(" " + key.substr(1)));
  CHECK_FALSE(is_key(std::string(40, '#')));  // more than 32 bits in five characters
}

TEST_CASE("own keys are read as they were written, and what is wrong is told by its line, without a secret") {
  const OwnKeys keys{make_key_pair(), {make_key_pair().public_key, make_key_pair().public_key}};
  const auto read = parse_own_keys(format_keys(keys, "a remark"), "file");
  CHECK(read.pair.public_key == keys.pair.public_key);
  CHECK(read.pair.secret_key == keys.pair.secret_key);
  CHECK(read.servers == keys.servers);
  const auto secret = "secret " + keys.pair.secret_key;
  const auto server = "\nserver " + keys.servers[0];
  CHECK(parse_own_keys(secret + server, "file").pair.public_key == keys.pair.public_key);
  for (const auto& [text, fault] :
       {std::pair(std::string(), "no line with a secret key"), std::pair(secret, "no line with a server key"),
        std::pair(secret + server + "\n" + secret, "line 3: there is a second secret key"),
        std::pair(secret + "\nworker " + keys.servers[0], "line 2: its first word"),
        std::pair(secret + "x" + server, "line 1: the first word must be followed by a key"),
        std::pair(secret + server + "\npublic " + keys.servers[0], "does not belong")}) {
    CAPTURE(fault);
    const auto refusal = refusal_of_keys([&text = text] { parse_own_keys(text, "file"); });
    CHECK(refusal.starts_with("file: "));
    CHECK(has(refusal, fault));
    CHECK(has(refusal, "ballast keygen"));
    CHECK_FALSE(has(refusal, keys.pair.secret_key));
  }
}

TEST_CASE("allowed keys have a role and a name, and stand there once") {
  const auto one = make_key_pair().public_key;
  const auto two = make_key_pair().public_key;
  const auto list =
      "# remark\n\n" + line_of(KeyRole::worker, one, "a worker's name") + line_of(KeyRole::command, two, "");
  const auto allowed = parse_allowed_keys(list, "file");
  REQUIRE(allowed.size() == 2);
  CHECK(allowed.at(one).role == KeyRole::worker);
  CHECK(allowed.at(one).name == "a worker's name");
  CHECK(allowed.at(two).role == KeyRole::command);
  CHECK(parse_allowed_keys("", "file").empty());
  CHECK(has(refusal_of_keys([&] { parse_allowed_keys(list + "shard " + one, "file"); }), "line 5: the same key"));
  CHECK(has(refusal_of_keys([&] { parse_allowed_keys("boss " + one, "file"); }), "none of worker, shard, operator"));
  CHECK(has(refusal_of_keys([&] { parse_allowed_keys("worker " + one + " a\x1b[2J", "file"); }), "line 1: a name"));
}

TEST_CASE("a file of keys that is not there, or that everybody may read, is told") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "worker.key";
  CHECK(refusal_of_keys([&] { load_own_keys(path); }).starts_with(path.string() + ": cannot be read (No such file"));
  CHECK(refusal_of_keys([&] { load_own_keys(folder.path()); }).find("is no file") != std::string::npos);
  const auto list = folder.path() / "allowed.keys";
  const auto shard = line_of(KeyRole::shard, make_key_pair().public_key, "server");
  for (const auto& [text, is_whole] :
       {std::pair(std::string(), false), std::pair(shard.substr(0, shard.size() - 1), false), std::pair(shard, true),
        std::pair(shard.substr(0, shard.size() - 1) + "\r\n", true)}) {
    std::ofstream(list) << text;
    CHECK((refusal_of_keys([&] { load_allowed_keys(list); }).find("is not whole") == std::string::npos) == is_whole);
  }
  std::ofstream(path) << "x";
  ::chmod(path.c_str(), 0640);
  CHECK(why_not_private(path).empty());
  ::chmod(path.c_str(), 0644);
  CHECK(has(why_not_private(path), "may read it: chmod o= " + path.string()));
  CHECK(why_not_guarded(path).empty());
  ::chmod(path.c_str(), 0642);
  CHECK(has(why_not_private(path), "may change it: chmod o= " + path.string()));
  CHECK(has(why_not_guarded(path), "chmod o-w " + path.string()));
}

TEST_CASE("a change of a file is seen once, also through a link that leads elsewhere") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "link";
  FileChange change(path);
  CHECK_FALSE(change.seen());  // it is not there
  for (const std::string name : {"one", "two"}) {
    std::ofstream(folder.path() / name) << "the same";
    std::filesystem::remove(path);
    std::filesystem::create_symlink(folder.path() / name, path);
    CHECK(change.seen());
    CHECK_FALSE(change.seen());
  }
  std::ofstream(folder.path() / "two") << "another";
  CHECK(change.seen());
  std::filesystem::remove(path);
  CHECK(change.seen());
}

TEST_CASE("a change of a file is seen though its size and its time are what they were") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "key";
  std::ofstream(path) << "one";
  const auto time = std::filesystem::last_write_time(path);
  FileChange change(path);
  CHECK(change.seen());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // kernels count file times in ticks, of 10 ms at most
  std::ofstream(path) << "two";
  std::filesystem::last_write_time(path, time);
  CHECK(change.seen());
}

}  // namespace
}  // namespace ballast
