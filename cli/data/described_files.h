// Which data set lies in a folder, told by the usual names of its files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/data/describe.h"

namespace ballast {

// The names in a folder, or of the outermost folders in a tar archive; of any other file there are none.
class FolderNames {
 public:
  // Throws std::runtime_error for a folder or archive that cannot be read.
  explicit FolderNames(const std::filesystem::path& root);

  // NAME or NAME.gz; empty where there is neither.
  [[nodiscard]] std::string file(const std::string& name) const;
  // All that begin so and end with .bin or .bin.gz, by a star if there are several.
  [[nodiscard]] std::string records(const std::string& beginning) const;
  // The one folder or archive with this word in its name; the one table (.csv or .tsv, perhaps .gz); empty where there
  // are none or several.
  [[nodiscard]] std::string tree(const std::string& word) const;
  [[nodiscard]] std::string table(const std::string& word) const;

 private:
  template <class Fits>
  [[nodiscard]] std::string only(const std::string& word, const Fits& fits) const;

  std::filesystem::path root_;
  bool archive_ = false;
  std::vector<std::string> names_;  // sorted
};

bool is_table(const std::string& name);

// The kind that the options name or the files' names tell, the files, and the root: absolute, without `.` in it.
// Everything else of the spec is as it begins. Throws std::runtime_error where nothing is known, or something is not
// named.
DataSpec find_described(const DescribeOptions& options);

}  // namespace ballast
