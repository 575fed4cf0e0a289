#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "worker/data/datasets.h"

namespace ballast {

namespace fs = std::filesystem;

bool reads_files(const DataSpec& spec) { return spec.name != "glyphs" && spec.name != "none"; }

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<fs::path> named_folder(const DataSpec& spec, const std::string& worker_path) {
  const auto& named = worker_path.empty() ? spec.path : worker_path;
  if (named.empty()) {
    return std::nullopt;
  }
  std::error_code error;
  if (!fs::is_directory(named, error)) {
    throw std::runtime_error((worker_path.empty() ? "data.path" : "the worker's data path") + std::string(" is ") +
                             named + ", which is no folder" + (error ? " (" + error.message() + ")" : "") +
                             "; name the folder that the data lies in, as this machine sees it");
  }
  return named;
}

fs::path data_folder(const DataSpec& spec, const std::string& worker_path) {
  if (const auto named = named_folder(spec, worker_path)) {
    return *named;
  }
  if (const auto data = environment("BALLAST_DATA"); !data.empty()) {
    return data;
  }
  throw std::runtime_error("data set " + spec.name +
                           ": no folder is named; set data.path, $BALLAST_DATA, or data_path in "
                           "the worker's file");
}

std::vector<fs::path> files_named(const fs::path& folder, const std::string& name) {
  const fs::path pattern = folder / name;
  const auto wanted = pattern.filename().string();
  const auto star = wanted.find('*');
  if (star == std::string::npos) {
    return {pattern};
  }
  const auto begin = wanted.substr(0, star);
  const auto end = wanted.substr(star + 1);
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pattern.parent_path(), error)) {
    const auto file = entry.path().filename().string();
    if (file.size() >= begin.size() + end.size() && file.starts_with(begin) && file.ends_with(end)) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw std::runtime_error(pattern.string() + ": no file has such a name" +
                             (error ? " (" + error.message() + ")" : "") + "; name one that is there");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace ballast
