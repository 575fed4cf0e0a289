// Sample files damaged at random: each either loads, and then survives being written and read again, or is refused with
// a ConfigError. Deterministic: the same damage on every run.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "tests/unit/common/job/support.h"

namespace ballast::testing {
namespace {

constexpr int kDamagedPerSample = 400;

class Damage {
 public:
  explicit Damage(std::uint32_t seed) : random_(seed) {}

  std::string apply(std::string text) {
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) {
      change(text);
    }
    return text;
  }

  // mt19937's output is fixed by the standard; the standard distributions' is not.
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

 private:
  void change(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(12);
    switch (below(6)) {
      case 0:
        if (!text.empty()) {
          text[at] = static_cast<char>(below(256));
        }
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 3:
        text.insert(at, token());
        break;
      case 4:
        swap_lines(text);
        break;
      default:
        replace_number(text);
        break;
    }
  }

  std::string token() {
    static const std::vector<std::string> kTokens = {
        "{",   "}",    "[",      "]",     ":",        ": ",          "- ",    "\n",    "\t",   "'",  "\"",
        "&a ", "*a",   "!!int ", "|",     ">",        "%YAML 1.2\n", "---\n", "...\n", "? ",   "#",  "<<: ",
        "~",   "null", ",",      "\\x41", "\xC3\xA4", "\xFF",        "@",     "`",     "\r\n", "  ", "training:\n"};
    return kTokens[below(kTokens.size())];
  }

  void swap_lines(std::string& text) {
    const auto newline = text.find('\n', below(text.size()));
    if (newline != std::string::npos) {
      const std::string head = text.substr(0, newline + 1);
      text = text.substr(newline + 1) + head;
    }
  }

  void replace_number(std::string& text) {
    static const std::vector<std::string> kNumbers = {
        "-1",   "0",   "1e999", "nan",  ".inf", "18446744073709551616", "4294967296", "1e-400",
        "0x10", "--5", "1.5",   "4096", "1"};
    const auto begin = text.find_first_of("0123456789", below(text.size()));
    if (begin != std::string::npos) {
      const auto end = text.find_first_not_of("0123456789.", begin);
      text.replace(begin, end == std::string::npos ? end : end - begin, kNumbers[below(kNumbers.size())]);
    }
  }

  std::mt19937 random_;
};

// Whether the text loads as a job. Anything but loading and a ConfigError ends the test.
bool loads_as_job(const std::string& text) {
  try {
    const std::string yaml = to_yaml(parse_job(text, "damaged.yaml"));
    const std::string again = to_yaml(parse_job(yaml, "effective"));
    CHECK(again == yaml);
    return true;
  } catch (const ConfigError& error) {
    CHECK_FALSE(error.errors().empty());
    CHECK(error.errors().size() <= kMaxConfigErrors + 1);
    for (const auto& line : error.errors()) {
      CHECK(line.starts_with("damaged.yaml:"));
    }
    return false;
  }
}

bool loads_as_worker(const std::string& text) {
  try {
    const WorkerSpec spec = parse_worker(text, "damaged.yaml");
    CHECK_FALSE(spec.lead.empty());
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

TEST_CASE("damaged sample files load or are refused, and nothing else happens") {
  std::uint32_t seed = 1;
  for (const std::string name : {"quickstart", "mnist-lenet5", "mnist-mlp", "emulated-resnet50", "worker"}) {
    const std::string whole = read_whole(project_file("configs/" + name + ".yaml"));
    int loaded = 0;
    for (int i = 0; i < kDamagedPerSample; ++i, ++seed) {
      const std::string text = Damage(seed).apply(whole);
      CAPTURE(seed);
      loaded += (name == "worker" ? loads_as_worker(text) : loads_as_job(text)) ? 1 : 0;
    }
    CAPTURE(name);
    // Damage in comments changes nothing and damage in values mostly does: both ends are reached.
    CHECK(loaded > 0);
    CHECK(loaded < kDamagedPerSample);
  }
}

TEST_CASE("damaged overrides too") {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    const std::vector<std::string> overrides = {Damage(seed).apply("training.optimizer.learning_rate=0.5")};
    try {
      parse_job(kJob, "job.yaml", overrides);
    } catch (const ConfigError& error) {
      CHECK(std::string(error.what()).starts_with("--set: "));
    }
  }
}

TEST_CASE("a text cut off anywhere") {
  const std::string whole = read_whole(project_file("configs/quickstart.yaml"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    loads_as_job(whole.substr(0, length));
  }
}

}  // namespace
}  // namespace ballast::testing
