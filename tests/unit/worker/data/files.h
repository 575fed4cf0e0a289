// Files for tests: a folder that goes away, idx bytes, gzip.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace ballast::testing {

using Bytes = std::vector<std::uint8_t>;

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes a file (and the folders above it); returns its path.
  std::filesystem::path write(const std::string& name, const Bytes& bytes) const;

 private:
  std::filesystem::path path_;
};

// An environment variable for the life of the object; empty value = unset.
class Environment {
 public:
  Environment(const char* name, const std::string& value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool was_set_;
};

// The bytes of an idx file of unsigned bytes.
Bytes idx(const std::vector<std::uint32_t>& dimensions, const Bytes& values);

Bytes gzip(const Bytes& plain);

// `count` images of 28 x 28 whose pixels tell image, row and column apart, and labels 0, 1, ... 9, 0, ...
Bytes image_values(std::uint32_t count);
Bytes label_values(std::uint32_t count);

// The text of the std::exception that `call` throws; empty if it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

inline Bytes bytes(const std::string& text) { return {text.begin(), text.end()}; }

// What the file holds; empty if there is none.
std::string text_of(const std::filesystem::path& path);

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace ballast::testing
