// A file for readers that want a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/fuzz/expect.h"

namespace ballast::fuzz {

// Lives in memory, as long as this object.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    expect(descriptor_ >= 0, "the system gives a file in memory");
    expect(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
           "a file in memory can be written");
  }
  explicit MemoryFile(std::string_view text)
      : MemoryFile(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())) {}
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Within its folder, /proc/self/fd.
  [[nodiscard]] std::string name() const { return std::to_string(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + name(); }

 private:
  int descriptor_;
};

}  // namespace ballast::fuzz
