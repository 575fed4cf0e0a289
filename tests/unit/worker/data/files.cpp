#include "tests/unit/worker/data/files.h"

#include <stdlib.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ballast::testing {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ballast-data-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder could be made at " + pattern);
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path TemporaryFolder::write(const std::string& name, const Bytes& bytes) const {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) {
    throw std::runtime_error("could not write " + file.string());
  }
  return file;
}

Environment::Environment(const char* name, const std::string& value) : name_(name) {
  const char* before = std::getenv(name);
  was_set_ = before != nullptr;
  before_ = was_set_ ? before : "";
  if (value.empty()) {
    unsetenv(name);
  } else {
    setenv(name, value.c_str(), 1);
  }
}

Environment::~Environment() {
  if (was_set_) {
    setenv(name_, before_.c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

Bytes idx(const std::vector<std::uint32_t>& dimensions, const Bytes& values) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(dimensions.size())};
  for (const std::uint32_t extent : dimensions) {
    for (const std::uint32_t shift : {24U, 16U, 8U, 0U}) {
      bytes.push_back(static_cast<std::uint8_t>(extent >> shift));
    }
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  Bytes input = plain;
  Bytes output(deflateBound(&stream, static_cast<uLong>(plain.size())));
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = output.data();
  stream.avail_out = static_cast<uInt>(output.size());
  const int outcome = deflate(&stream, Z_FINISH);
  const auto end = output.end() - static_cast<std::ptrdiff_t>(stream.avail_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) {
    throw std::runtime_error("deflate failed");
  }
  return {output.begin(), end};
}

Bytes image_values(std::uint32_t count) {
  Bytes values;
  for (std::uint32_t image = 0; image < count; ++image) {
    for (std::uint32_t pixel = 0; pixel < 28 * 28; ++pixel) {
      values.push_back(static_cast<std::uint8_t>(image * 31 + pixel * 7 + pixel / 28));
    }
  }
  return values;
}

Bytes label_values(std::uint32_t count) {
  Bytes values;
  for (std::uint32_t i = 0; i < count; ++i) {
    values.push_back(static_cast<std::uint8_t>(i % 10));
  }
  return values;
}

}  // namespace ballast::testing
