#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "worker/data/datasets.h"

namespace ballast {

namespace fs = std::filesystem;

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

}  // namespace ballast
