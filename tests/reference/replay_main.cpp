// ballast-replay JOB.yaml SHARDS [SHARD=FOLDER... [--records]]: reads journals of the job, which has so many shards,
// without changing them, and prints what they make of the weights, as one JSON object; with --records instead a line
// for each record: SHARD SEQUENCE ITEM CHUNK VERSION SHA256 of the contribution. With no folder: a line CHUNK SHARD for
// each chunk.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/arena/placement.h"
#include "common/job/load.h"
#include "common/numeric/sha256.h"
#include "tests/reference/replay.h"

namespace {

using ballast::reference::Replay;

void print_placement(const ballast::Job& job, std::uint32_t shards) {
  const ballast::Placement placement(job.arena, shards, 1);
  for (std::size_t chunk = 0; chunk < placement.size(); ++chunk) {
    std::printf("%zu %u\n", chunk, placement[chunk].shard);
  }
}

void print_records(const Replay& replay) {
  replay.visit([](std::uint32_t shard, ballast::JournalSequence sequence, const ballast::JournalRecord& record) {
    std::printf("%u %llu %llu %u %llu %s\n", shard, static_cast<unsigned long long>(sequence),
                static_cast<unsigned long long>(record.item), record.chunk,
                static_cast<unsigned long long>(record.version), ballast::sha256_hex(record.payload).c_str());
  });
}

void print_result(const Replay& replay) {
  const auto result = replay.run();
  nlohmann::ordered_json json;
  json["weights_sha256"] = result.weights_sha256;
  json["optimizer_sha256"] = result.optimizer_sha256.empty() ? nlohmann::ordered_json(nullptr)
                                                             : nlohmann::ordered_json(result.optimizer_sha256);
  json["records"] = result.records;
  json["updates"] = nlohmann::ordered_json::array();
  for (const auto& [chunk, updates] : result.updates) {
    json["updates"].push_back(updates);
  }
  std::puts(json.dump(2).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool records = !arguments.empty() && arguments.back() == "--records";
  if (records) {
    arguments.pop_back();
  }
  std::map<std::uint32_t, std::filesystem::path> journals;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (const auto equals = arguments[i].find('='); equals != std::string::npos) {
      journals.emplace(std::strtoul(arguments[i].c_str(), nullptr, 10), arguments[i].substr(equals + 1));
    }
  }
  if (arguments.size() < 2 || journals.size() + 2 != arguments.size()) {
    std::fputs("usage: ballast-replay JOB.yaml SHARDS [SHARD=FOLDER... [--records]]\n", stderr);
    return 2;
  }
  try {
    const auto job = ballast::make_job(ballast::load_job(arguments[0], {}));
    const auto shards = static_cast<std::uint32_t>(std::strtoul(arguments[1].c_str(), nullptr, 10));
    if (journals.empty()) {
      print_placement(job, shards);
      return 0;
    }
    const Replay replay(job, journals, shards);
    records ? print_records(replay) : print_result(replay);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-replay: %s\n", error.what());
    return 1;
  }
}
