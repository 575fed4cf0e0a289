#include "bench/temporary_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ballast::bench {

TemporaryFolder::TemporaryFolder() {
  auto text = (std::filesystem::temp_directory_path() / "ballast-bench-XXXXXX").string();
  if (mkdtemp(text.data()) == nullptr) {
    throw std::runtime_error("no folder can be made at " + text + ": " + std::strerror(errno) +
                             "; set TMPDIR to one that can be written");
  }
  path_ = text;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ::sync();
}

}  // namespace ballast::bench
