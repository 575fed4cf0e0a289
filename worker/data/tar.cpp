#include "worker/data/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "common/log/log.h"
#include "common/text/text.h"

namespace ballast {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 50U;  // no sum of sizes overflows
constexpr const char* kCutShort = "; fetch or pack the archive again";

using Header = std::array<std::uint8_t, kBlock>;

// Fields of a header by offset and size.
struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field kName = {0, 100};
constexpr Field kSize = {124, 12};
constexpr Field kChecksum = {148, 8};
constexpr std::size_t kType = 156;
constexpr Field kMagic = {257, 5};
constexpr Field kVersion = {263, 2};
constexpr Field kPrefix = {345, 155};

std::string_view bytes_of(const Header& header, Field field) {
  return {reinterpret_cast<const char*>(header.data()) + field.offset, field.size};
}

std::string text_of(const Header& header, Field field) {
  const auto bytes = bytes_of(header, field);
  return std::string(bytes.substr(0, bytes.find('\0')));
}

// Octal digits between spaces and zero bytes, or, if the first bit is set, GNU's binary number.
std::optional<std::uint64_t> number_of(const Header& header, Field field) {
  auto bytes = bytes_of(header, field);
  if ((static_cast<std::uint8_t>(bytes[0]) & 0x80U) != 0) {
    std::uint64_t value = static_cast<std::uint8_t>(bytes[0]) & 0x7FU;
    for (const char byte : bytes.substr(1)) {
      if (value > kMaxFile) {
        return std::nullopt;
      }
      value = value << 8U | static_cast<std::uint8_t>(byte);
    }
    return value;
  }
  const auto padding = std::string_view(" \0", 2);
  bytes.remove_prefix(std::min(bytes.find_first_not_of(' '), bytes.size()));
  bytes = bytes.substr(0, bytes.find_first_of(padding));
  std::uint64_t value = 0;
  if (bytes.empty()) {
    return value;
  }
  const auto result = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value, 8);
  return result.ec == std::errc() && result.ptr == bytes.data() + bytes.size() ? std::optional(value) : std::nullopt;
}

bool checksum_is_right(const Header& header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    sum += own ? ' ' : header[i];
  }
  return number_of(header, kChecksum) == sum;
}

bool is_empty(const Header& header) {
  return std::ranges::all_of(header, [](auto byte) { return byte == 0; });
}

// GNU's archives have other things where ustar's have a prefix.
std::string path_of(const Header& header) {
  const bool ustar = bytes_of(header, kMagic) == "ustar" && bytes_of(header, kVersion) == "00";
  const auto prefix = ustar ? text_of(header, kPrefix) : std::string();
  return prefix.empty() ? text_of(header, kName) : prefix + "/" + text_of(header, kName);
}

std::uint64_t to_block(std::uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

}  // namespace

bool is_tar(const std::filesystem::path& path) {
  Header header;
  return ByteSource(path).read(header) == header.size() && (is_empty(header) || checksum_is_right(header));
}

void TarReader::fill(std::span<std::uint8_t> bytes, const char* within) {
  const auto start = source_.offset();
  const auto got = source_.read(bytes);
  if (got < bytes.size()) {
    source_.fail(start + got, std::string("the archive is cut short within ") + within + kCutShort);
  }
}

void TarReader::skip(std::uint64_t bytes, const char* within) {
  std::array<std::uint8_t, 64 * kBlock> passed;
  while (bytes > 0) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, passed.size()));
    fill(std::span(passed).first(part), within);
    bytes -= part;
  }
}

void TarReader::skip_rest() { skip(std::exchange(left_, 0) + std::exchange(padding_, 0), "a file"); }

std::string TarReader::read_text(std::uint64_t size, const char* within) {
  if (size > kMaxPaxBytes) {
    source_.fail(source_.offset(), std::string(within) + " of " + std::to_string(size) +
                                       " bytes is too long; at most " + std::to_string(kMaxPaxBytes) + " are read" +
                                       kCutShort);
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  fill(bytes, within);
  skip(to_block(size), within);
  return {bytes.begin(), bytes.end()};
}

// Records of "LENGTH KEY=VALUE\n", whose length counts itself.
void TarReader::read_pax(const std::string& records, std::uint64_t at) {
  std::string_view rest = records;
  while (!rest.empty()) {
    std::size_t length = 0;
    const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(number.ptr - rest.data());
    if (number.ec != std::errc() || length > rest.size() || length < digits + 3 || rest[digits] != ' ' ||
        rest[length - 1] != '\n') {
      source_.fail(at, std::string("a pax record is damaged") + kCutShort);
    }
    const auto record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    if (record.starts_with("path=")) {
      next_path_ = record.substr(5);
    } else if (record.starts_with("size=")) {
      std::uint64_t size = 0;
      const auto text = record.substr(5);
      const auto result = std::from_chars(text.data(), text.data() + text.size(), size);
      if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
        source_.fail(at, std::string("a pax record's size is no number") + kCutShort);
      }
      next_size_ = size;
    }
  }
}

void TarReader::drain() {
  std::array<std::uint8_t, 64 * kBlock> passed;
  while (source_.read(passed) == passed.size()) {
  }
}

std::optional<TarFile> TarReader::next() {
  skip_rest();
  while (true) {
    const auto at = source_.offset();
    Header header;
    fill(header, "a header: its end mark is missing");
    if (is_empty(header)) {
      drain();
      warn_of_links();
      return std::nullopt;
    }
    if (!checksum_is_right(header)) {
      source_.fail(at, std::string(at == 0 ? "this is no tar archive" : "a header is damaged: its checksum is wrong") +
                           kCutShort);
    }
    const auto written = number_of(header, kSize);
    const char type = static_cast<char>(header[kType]);
    if (!written || *written > kMaxFile || next_size_.value_or(0) > kMaxFile) {
      source_.fail(at, std::string("a header is damaged: its size is no number that can be right") + kCutShort);
    }
    if (type == 'x') {
      read_pax(read_text(*written, "a pax header"), at);
      continue;
    }
    if (type == 'L') {
      const auto text = read_text(*written, "a long name");
      next_path_ = text.substr(0, text.find('\0'));
      continue;
    }
    TarFile file{next_path_.empty() ? path_of(header) : next_path_, source_.offset(), next_size_.value_or(*written)};
    next_path_.clear();
    next_size_.reset();
    if (file.path.size() > kMaxTarPath) {
      source_.fail(at, "a name of " + std::to_string(file.path.size()) + " bytes is too long; at most " +
                           std::to_string(kMaxTarPath) + " are read");
    }
    const bool has_content = type < '1' || type > '6';  // links, devices and folders have none
    left_ = has_content ? file.size : 0;
    padding_ = has_content ? to_block(file.size) : 0;
    if (type == '0' || type == '\0' || type == '7') {
      return file;
    }
    if (type == '1' || type == '2') {
      note_link(file.path);
    }
    skip_rest();
  }
}

void TarReader::note_link(const std::string& name) {
  if (links_++ == 0) {
    first_link_ = name;
  }
}

void TarReader::warn_of_links() const {
  if (links_ > 0) {
    constexpr std::size_t kLongest = 1000;
    log_warn(
        "{}: {} entries are links without content and are passed over, the first {}; pack the files themselves "
        "(tar --dereference --hard-dereference)",
        path_.string(), links_, as_line(first_link_, kLongest));
  }
}

void TarReader::read(std::span<std::uint8_t> bytes) {
  fill(bytes, "a file");
  left_ -= bytes.size();
}

}  // namespace ballast
