#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/command/command_line.h"

namespace ballast {
namespace {

// A program with commands, as ballast is one.
class Program {
 public:
  Program() {
    auto* run = app_.add_subcommand("run", "");
    run->add_option("job", job_, "");
    run->add_option("--workers", workers_, "");
    run->add_option("-o,--output", output_, "");
    run->add_flag("--metrics", metrics_, "");
    run->add_option("--fault", fault_, "")->group("");
    app_.add_subcommand("status", "")->add_option("where", job_, "");
    auto* data = app_.add_subcommand("data", "");
    data->add_subcommand("get", "")->add_option("set", job_, "");
    app_.require_subcommand(1);
  }
  std::string unknown(const std::vector<std::string>& words) { return unknown_word(app_, words); }
  std::optional<int> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return parse_command_line(app_, static_cast<int>(words.size()), words.data());
  }

 private:
  CLI::App app_{"", "ballast"};
  std::string job_;
  std::string workers_;
  std::string output_;
  std::string fault_;
  bool metrics_ = false;
};

TEST_CASE("an unknown option is named, with the command it stands behind and what may be meant") {
  Program program;
  CHECK(program.unknown({"run", "--wokers", "3", "job.yaml"}) ==
        "unknown option '--wokers' of `ballast run`; did you mean --workers?");
  CHECK(program.unknown({"run", "job.yaml", "--wokers=3"}).find("'--wokers'") != std::string::npos);
  CHECK(program.unknown({"status", "--workers", "3"}) ==
        "unknown option '--workers' of `ballast status`; `ballast status --help` lists them");
  CHECK(program.unknown({"--workers"}).find("of `ballast`;") != std::string::npos);
  CHECK(program.unknown({"run", "-x"}).find("'-x'") != std::string::npos);
  CHECK(program.unknown({"run", "--falt"}).find("--fault") == std::string::npos);  // which is for tests
}

TEST_CASE("what is no option is not taken for one") {
  Program program;
  CHECK(program.unknown({"run", "--workers", "-3", "-", "job.yaml"}).empty());
  CHECK(program.unknown({"run", "--metrics", "-oFILE", "--output=--what", "--help"}).empty());
  CHECK(program.unknown({"run", "--", "--what"}).empty());
  CHECK(program.unknown({"run", "--output", "--what"}).empty());
  CHECK(program.unknown({"run", "--metrics", "--what"}).find("'--what'") != std::string::npos);
}

TEST_CASE("an unknown command is named") {
  Program program;
  CHECK(program.unknown({"statsu", "x"}) == "unknown command 'statsu' of `ballast`; did you mean status?");
  CHECK(program.unknown({"data", "fetch"}) ==
        "unknown command 'fetch' of `ballast data`; `ballast data --help` lists them");
  CHECK(program.unknown({"data", "get", "mnist"}).empty());
}

TEST_CASE("how large log files become, and how many there are, has bounds") {
  const auto parse = [](const char* option, const char* value) {
    CLI::App app("", "ballast");
    std::uint64_t megabytes = 0;
    std::uint32_t files = 0;
    add_log_megabytes(app, megabytes);
    add_log_files(app, files);
    return parse_command_line(app, 3, std::array{"ballast", option, value}.data());
  };
  CHECK_FALSE(parse("--log-megabytes", "0").has_value());
  CHECK_FALSE(parse("--log-megabytes", "1000000").has_value());
  for (const char* value : {"1000001", "99999999999999999999", "-1", "many"}) {
    CHECK(parse("--log-megabytes", value) == kExitUsage);
  }
  CHECK_FALSE(parse("--log-files", "1000").has_value());
  for (const char* value : {"0", "1001", "4294967297"}) {
    CHECK(parse("--log-files", value) == kExitUsage);
  }
}

TEST_CASE("a mistake on the command line ends with 2, help and version with 0") {
  CHECK(Program().parse({"run", "--wokers", "3"}) == kExitUsage);
  CHECK(Program().parse({"run", "a", "b"}) == kExitUsage);
  CHECK(Program().parse({}) == kExitUsage);
  CHECK(Program().parse({"--help"}) == 0);
  CHECK(Program().parse({"run", "--help"}) == 0);
  CHECK(Program().parse({"--version"}) == 0);
  CHECK_FALSE(Program().parse({"run", "job.yaml"}).has_value());
}

}  // namespace
}  // namespace ballast
