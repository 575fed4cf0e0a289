#include "tests/device_model/misuse.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace ballast::device_model {
namespace {

std::mutex& world() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

void misuse(std::string_view function, const std::string& what) {
  std::fprintf(stderr, "device model: %.*s: %s\n", static_cast<int>(function.size()), function.data(), what.c_str());
  std::abort();
}

std::string name_range(const void* begin, std::size_t bytes) {
  std::ostringstream text;
  text << begin << " with " << bytes << " bytes";
  return text.str();
}

Call::Call() : lock_(world()) {}

}  // namespace ballast::device_model
