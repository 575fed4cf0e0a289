// Runs a fuzz target over files, without libFuzzer: TARGET-replay FOLDER_OR_FILE...
//
// Built with any compiler, so that each input that was ever of interest is tried again on every test. A folder counts
// with the files directly in it; one without any is a mistake, for nothing would be tested.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_at(const std::filesystem::path& place) {
  if (!std::filesystem::is_directory(place)) {
    return {place};
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(place)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw std::runtime_error(place.string() + ": holds no input; name a folder with files");
  }
  std::ranges::sort(files);
  return files;
}

void run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error(path.string() + ": can't be read");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // In memory of exactly its size, for the address sanitizer to see what lies beyond.
  const auto bytes = std::make_unique<std::uint8_t[]>(text.size());
  std::ranges::copy(text, bytes.get());
  std::fprintf(stderr, "%s\n", path.c_str());  // before the run: the last name is that of the input that ended it
  LLVMFuzzerTestOneInput(bytes.get(), text.size());
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count < 2) {
      throw std::runtime_error("name folders or files of inputs");
    }
    for (int i = 1; i < count; ++i) {
      for (const auto& path : files_at(arguments[i])) {
        run(path);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], error.what());
    return 1;
  }
  return 0;
}
