// Which data set lies in a folder, told by the usual names of its files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/data/describe.h"

namespace ballast {

// What a look-up of a file by its usual name came to.
struct NamedFile {
  std::string name = {};  // empty: none is known
  std::string why = {};   // then, if something is near: several fit, or capital letters differ
};

// The names in a folder, or of the outermost folders in a tar archive; of any other file there are none.
class FolderNames {
 public:
  // Throws std::runtime_error for a folder or archive that cannot be read.
  explicit FolderNames(const std::filesystem::path& root);

  // NAME or NAME.gz.
  [[nodiscard]] NamedFile file(const std::string& name) const;
  // All that begin so and end with .bin or .bin.gz, by a star if there are several.
  [[nodiscard]] NamedFile records(const std::string& beginning) const;
  // The one folder or archive with this word in its name; the one table (.csv or .tsv, perhaps .gz).
  [[nodiscard]] NamedFile tree(const std::string& word) const;
  [[nodiscard]] NamedFile table(const std::string& word) const;

 private:
  template <class Fits>
  [[nodiscard]] NamedFile only(const std::string& word, const std::string& what, const Fits& fits) const;

  std::filesystem::path root_;
  bool archive_ = false;
  std::vector<std::string> names_;  // sorted
};

struct FoundFiles {
  DataSpec spec;                           // the kind, the files and the root; all else is as it begins
  std::vector<std::string> warnings = {};  // of a test split that is left out, or the training one
};

bool is_table(const std::string& name);

// The kind that the options name or the files' names tell, the files, and the root: absolute, without `.` in it. Throws
// std::runtime_error where nothing is known, or something is not named, with what is nearly so: names that several
// files have, or that differ in capital letters.
FoundFiles find_described(const DescribeOptions& options);

}  // namespace ballast
