// ballast-reference JOB.yaml [--set key.path=value]... [--skip STEP]...: trains the job in this one process, without
// the updates of the skipped steps, and prints, as one JSON object, the digests that a cluster's run must equal.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/job/load.h"
#include "common/net/message_memory.h"
#include "tests/reference/reference.h"

namespace {

constexpr const char* kUsage = "usage: ballast-reference JOB.yaml [--set key.path=value]... [--skip STEP]...\n";

void print(const ballast::reference::Result& result) {
  nlohmann::ordered_json json;
  json["weights_sha256"] = result.weights_sha256;
  json["optimizer_sha256"] = result.optimizer_sha256.empty() ? nlohmann::ordered_json(nullptr)
                                                             : nlohmann::ordered_json(result.optimizer_sha256);
  json["evaluated_sha256"] = result.evaluated_sha256;
  json["train_loss"] = result.train_loss;  // null if it is not finite
  json["test_accuracy"] =
      result.evaluated ? nlohmann::ordered_json(result.test_accuracy) : nlohmann::ordered_json(nullptr);
  std::puts(json.dump(2).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  ballast::keep_freed_memory();  // each step has gradients of its own
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string file;
  std::vector<std::string> overrides;
  std::set<std::uint64_t> skipped;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--set" && i + 1 < arguments.size()) {
      overrides.push_back(arguments[++i]);
    } else if (arguments[i] == "--skip" && i + 1 < arguments.size()) {
      skipped.insert(std::strtoull(arguments[++i].c_str(), nullptr, 10));
    } else if (file.empty() && !arguments[i].starts_with("-")) {
      file = arguments[i];
    } else {
      std::fputs(kUsage, stderr);
      return 2;
    }
  }
  if (file.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    print(ballast::reference::train(ballast::make_job(ballast::load_job(file, overrides)), skipped));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-reference: %s\n", error.what());
    return 1;
  }
}
