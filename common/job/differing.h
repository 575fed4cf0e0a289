// What differs between two jobs, key by key.
#pragma once

#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

// A key that decides a job's bits, and its values in two effective jobs; "none" where one does not have it.
struct DifferingKey {
  std::string key;
  std::string a;
  std::string b;
};

// The keys of spec_digest() (load.h) whose values differ, in the order of their names. Thread-safe.
std::vector<DifferingKey> differing(const JobSpec& a, const JobSpec& b);

}  // namespace ballast
