#include "cli/data/data.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "cli/data/data_files.h"
#include "common/text/shell_word.h"
#include "worker/data/datasets.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

const DataFiles& files_of(const std::string& set) {
  if (set != mnist_files().set) {
    throw std::runtime_error("data set '" + set + "' has no files to fetch or check; only mnist has");
  }
  return mnist_files();
}

bool holds_any(const fs::path& folder, const DataFiles& set) {
  return std::ranges::any_of(set.files, [&](const auto& file) {
    std::error_code ignored;
    return fs::exists(folder / file.name, ignored) || fs::exists(folder / (file.name + ".gz"), ignored);
  });
}

// The one that a worker without a path of its own would read from. If there is none yet: $BALLAST_DATA/mnist, or the
// cache's, where no other data set lies.
fs::path usual_folder(const DataFiles& set) {
  const auto folders = mnist_folders({}, "");
  if (folders.empty()) {
    throw std::runtime_error("no folder to look in: name one, or set $BALLAST_DATA or $HOME");
  }
  for (const auto& folder : folders) {
    if (holds_any(folder, set)) {
      return folder;
    }
  }
  const auto own = std::ranges::find(folders, fs::path(set.set), [](const auto& folder) { return folder.filename(); });
  return own != folders.end() ? *own : folders.front();
}

fs::path folder_of(const DataOptions& options, const DataFiles& set) {
  return fs::absolute(options.folder.empty() ? usual_folder(set) : fs::path(options.folder));
}

}  // namespace

int get_data(const DataOptions& options) {
  const auto& set = files_of(options.set);
  const auto folder = folder_of(options, set);
  FetchOptions fetch;
  fetch.mirrors = options.mirrors;
  fetch.patience = std::chrono::seconds(options.patience);
  fetch.terminal = isatty(STDOUT_FILENO) == 1;
  std::printf("%s goes to %s\n", set.set.c_str(), folder.c_str());
  std::fflush(stdout);
  fetch_files(set, folder, fetch);
  return 0;
}

int check_data(const DataOptions& options) {
  const auto& set = files_of(options.set);
  if (check_files(set, folder_of(options, set), stdout)) {
    return 0;
  }
  std::fprintf(stderr,
               "ballast: the data set is not whole; fetch what is missing or damaged with: ballast data get %s%s\n",
               set.set.c_str(), options.folder.empty() ? "" : (" --to " + shell_word(options.folder)).c_str());
  return 1;
}

}  // namespace ballast
