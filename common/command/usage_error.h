#pragma once

#include <stdexcept>

namespace ballast {

// What only another command line can mend; ends a program with kExitUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ballast
