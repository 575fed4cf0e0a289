#include "cli/advising/probe.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "common/command/usage_error.h"
#include "tests/unit/cli/advising/fleet.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

MachineProbe full() {
  auto probe = testing::machine_with_link(118.5);
  probe.job_digest = "abc";
  probe.slot->alone = {1234, 1250};
  probe.slot->ready = {1, 0.5, 0.125};
  probe.slot->processors = 0.75;
  return probe;
}

std::string fault_of(const std::string& text) {
  try {
    read_probe(text, "file.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

TEST_CASE("a probe is read as it was written") {
  const auto probe = full();
  CHECK(read_probe(probe_text(probe), "file.json") == probe);
  auto less = probe;
  less.slot.reset();
  less.links.clear();
  CHECK(read_probe(probe_text(less), "file.json") == less);
  auto blind = probe;
  blind.slot->fetch.reset();
  blind.slot->data_trouble = "no such folder";
  CHECK(read_probe(probe_text(blind), "file.json") == blind);
}

TEST_CASE("what is no probe is refused, with the file and what to do") {
  for (const auto* text : {"", "{}", "[]", "null", "7", "{\"ballast_probe\"", "\xff\xfe", "{\"steps\": []}"}) {
    CHECK(fault_of(text) == "file.json: is no file of `ballast probe`; make it anew with `ballast probe JOB -o FILE`");
  }
}

TEST_CASE("a probe of another version is refused") {
  const auto fault = fault_of(replaced(probe_text(full()), "\"ballast_probe\": 1", "\"ballast_probe\": 2"));
  CHECK(fault.find("file.json: is of version 2") == 0);
  CHECK(fault.find("make it anew") != std::string::npos);
}

TEST_CASE("values that nothing can take are named") {
  const auto text = probe_text(full());
  CHECK(fault_of(replaced(text, "\"processors\": 4.0", "\"processors\": 0")).find("processors is not more than 0") !=
        std::string::npos);
  CHECK(fault_of(replaced(text, "\"processors\": 4.0", "\"processors\": \"many\"")).find("file.json: processors") == 0);
  CHECK(fault_of(replaced(text, "1234.0", "-1")).find("worker.alone_us is no number") != std::string::npos);
  CHECK(fault_of(replaced(text, "1234.0", "1e300")).find("worker.alone_us is no number") != std::string::npos);
  CHECK(fault_of(replaced(text, "\"ready\"", "\"reedy\"")).find("worker.ready is missing") != std::string::npos);
  CHECK(fault_of(replaced(text, "\"links\": [", "\"links\": [3, ")).find("links is no object") != std::string::npos);
  CHECK(fault_of(replaced(text, "\"lane\": {", "\"lane\": 3, \"other\": {")).find("lane is no object") !=
        std::string::npos);
  CHECK(fault_of(replaced(text, "\"memory_bytes\": ", "\"memory_bytes\": -")).find("memory_bytes") !=
        std::string::npos);
}

TEST_CASE("what a file says cannot move a terminal, nor fill it") {
  auto probe = full();
  probe.machine = "m\x1b[2J\n\x7fname";
  probe.slot->backend = std::string(5'000, 'x');
  const auto read = read_probe(probe_text(probe), "file.json");
  CHECK(read.machine == "m [2J  name");
  CHECK(read.slot->backend == std::string(1'000, 'x'));
}

TEST_CASE("names that are no UTF-8 are written replaced") {
  auto probe = full();
  probe.machine = "m\xff";
  CHECK(read_probe(probe_text(probe), "file.json").machine == "m\xef\xbf\xbd");
}

TEST_CASE("a file that says far too much is read, or refused, like any other") {
  std::string keys;
  for (int key = 0; key < 200'000; ++key) {
    keys += "\"k" + std::to_string(key) + "\": 0, ";
  }
  const auto text = probe_text(full());
  CHECK(read_probe(replaced(text, "\"ballast_probe\"", keys + "\"ballast_probe\""), "file.json") == full());
  auto probe = full();
  probe.links.resize(256, probe.links[0]);
  CHECK(read_probe(probe_text(probe), "file.json") == probe);
  probe.links.push_back(probe.links[0]);
  CHECK(fault_of(probe_text(probe)).find("file.json: links is no list, or has more than 256 values") == 0);
}

TEST_CASE("a file that is not there, or is too large, is named") {
  const TemporaryFolder folder;
  const auto path = (folder.path() / "probe.json").string();
  CHECK_THROWS_WITH_AS(load_probe(path), doctest::Contains("cannot be read"), UsageError);
  std::ofstream(path) << std::string(std::size_t{6} << 20U, ' ');
  CHECK_THROWS_WITH_AS(load_probe(path), doctest::Contains("is too large"), UsageError);
  std::ofstream(path) << probe_text(full());
  CHECK(load_probe(path) == full());
}

}  // namespace
}  // namespace ballast
