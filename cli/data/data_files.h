// The files of published data sets: what they must hold, where they are offered, and how they are fetched.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace ballast {

// Size and digest are of the content after decompression: copies differ in their gzip headers.
struct DataFile {
  std::string name;  // without .gz
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct DataFiles {
  std::string set;  // as data.name says it
  std::vector<DataFile> files;
  std::vector<std::string> mirrors;  // addresses of folders that hold NAME.gz
};

// Y. LeCun's, C. Cortes' and C. Burges' handwritten digits.
const DataFiles& mnist_files();

// A file as a worker would find it in a folder: NAME, or else NAME.gz.
struct FoundFile {
  enum class State : std::uint8_t { good, damaged, missing };
  State state = State::missing;
  std::filesystem::path path;  // empty if missing
  std::string problem;         // if damaged
};
FoundFile look_for(const DataFile& file, const std::filesystem::path& folder);

// Says of each file how it is. Whether all are good.
bool check_files(const DataFiles& set, const std::filesystem::path& folder, std::FILE* out);

struct FetchOptions {
  std::vector<std::string> mirrors;  // in place of the usual ones, if any
  std::chrono::seconds patience{20};
  std::FILE* out = stdout;
  bool terminal = false;  // the last line may be rewritten
};

// Makes the folder hold the whole set: good files are kept, missing ones fetched, damaged ones kept beside the new ones
// as NAME.damaged. Throws std::runtime_error when no mirror has a good copy of a file (naming each with its reason, and
// how the files may be put there by hand), when the folder cannot be written, or when another process is at it.
void fetch_files(const DataFiles& set, const std::filesystem::path& folder, const FetchOptions& options);

}  // namespace ballast
