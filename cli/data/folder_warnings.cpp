#include "cli/data/folder_warnings.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <system_error>

namespace ballast {

std::vector<std::string> counted_warning(const std::string& split, const LeftAside::Kind& files,
                                         const std::string& what, const std::string& remedy) {
  if (files.count == 0) {
    return {};
  }
  return {split + ": " + what + ": " + std::to_string(files.count) + (files.count == 1 ? ", " : ", the first ") +
          files.first + "; " + remedy};
}

std::vector<std::string> aside_warnings(const std::string& split, const LeftAside& aside) {
  std::vector<std::string> all;
  const auto tell = [&](const LeftAside::Kind& files, const std::string& what, const std::string& remedy) {
    std::ranges::copy(counted_warning(split, files, what + ", which no job reads", remedy), std::back_inserter(all));
  };
  const std::string move = "examples lie in SPLIT/CLASS/FILE: move them there, or take them away";
  tell(aside.nested, "files in folders within a class's folder", move);
  tell(aside.outside, "files in no class's folder", move);
  tell(aside.dangling, "links that lead nowhere", "correct or remove them");
  return all;
}

std::vector<std::string> empty_folder_warnings(const std::filesystem::path& split,
                                               const std::vector<std::string>& classes) {
  const std::set<std::string> known(classes.begin(), classes.end());
  std::vector<std::string> warnings;
  std::error_code error;
  for (std::filesystem::directory_iterator folder(split, error), end; !error && folder != end;
       folder.increment(error)) {
    const auto name = folder->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with('.') && folder->is_directory(ignored) && !known.contains(name)) {
      warnings.push_back(folder->path().string() + ": holds no example, and is no class");
    }
  }
  std::ranges::sort(warnings);
  return warnings;
}

}  // namespace ballast
