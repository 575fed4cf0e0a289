// How many of a run's examples could not be read, as its workers' logs tell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace ballast {

struct CorruptCount {
  std::uint64_t examples = 0;
  std::filesystem::path log;  // which tells of them
};

// The most that one of the workers told at its end (worker/corrupt_line.h); nothing if none told any. Of sets that are
// read when they are opened each worker tells all; of images, those that it decoded.
std::optional<CorruptCount> corrupt_examples(const std::vector<std::filesystem::path>& logs);

}  // namespace ballast
