// A database that a start has made, and that nothing has come of.
#pragma once

#include <filesystem>
#include <string>

namespace ballast {

// A start that is refused (another job file than the lead's, an address that is taken) must not leave a database that
// makes the next one be refused as well. One thread.
class NewDatabase {
 public:
  // Before the database is opened.
  explicit NewDatabase(std::filesystem::path folder);

  // Once it is closed: removes what was made, unless the folder held something before, or a timeline has begun in it.
  // Whether it did. Never throws.
  bool discard() const;

 private:
  std::filesystem::path folder_;
  bool was_there_ = false;  // the folder
  bool was_empty_ = true;
};

}  // namespace ballast
