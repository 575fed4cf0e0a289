// `ballast data`: fetches published data sets, and checks what there is of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast {

struct DataOptions {
  std::string set = "mnist";
  std::string folder;                // empty: where workers look
  std::vector<std::string> mirrors;  // of get, in place of the usual ones
  std::uint32_t patience = 20;       // of get: seconds that a mirror may stand still
};

// `ballast data get`: exit code 0 when the folder holds the whole, good set. Throws std::runtime_error with what keeps
// it from that.
int get_data(const DataOptions& options);

// `ballast data check`: exit code 0 if all files are there and good, 1 if not; standard output says it of each.
int check_data(const DataOptions& options);

}  // namespace ballast
