// Messages in folders, one folder a class, or in a tar archive of such.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "worker/data/class_files.h"

namespace ballast {

struct TextFile {
  std::string split;   // the folder of the classes' folders, within the root: one of those asked for
  std::string folder;  // the class
  std::string name;
};

// A larger file is refused. 64 MiB.
inline constexpr std::uint64_t kMaxTextFile = std::uint64_t{1} << 26U;

// Calls `take` once for each file root/SPLIT/CLASS/NAME of the splits, with its bytes, or with why they can't be had
// (then `bytes` is empty): in an order that is the archive's or the file system's. Hidden files and folders are passed
// over, as are files elsewhere, of which those within a split are noted in `aside`, if it is given (links that lead
// nowhere are given to `take`, too). Throws std::runtime_error for a root that is neither a folder nor a tar archive,
// for a split without files, and what `take` throws.
using TakeText = std::function<void(const TextFile& file, std::string bytes, const std::string& fault)>;
void read_text_files(const std::filesystem::path& root, const std::vector<std::string>& splits, const TakeText& take,
                     LeftAside* aside = nullptr);

}  // namespace ballast
