// Little-endian numbers and texts in a row of bytes, read with bounds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ballast {

class ByteWriter {
 public:
  template <std::unsigned_integral T>
  ByteWriter& number(T value) {
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      bytes_.push_back(static_cast<char>((std::uint64_t{value} >> (8 * byte)) & 0xFFU));
    }
    return *this;
  }
  ByteWriter& text(std::string_view value) { return number(static_cast<std::uint32_t>(value.size())).raw(value); }
  ByteWriter& raw(std::string_view value) {
    bytes_.append(value);
    return *this;
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Once a read has failed, every further one fails; values are then zero or empty. Ask ok() or done() at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T number() {
    const auto bytes = raw(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[byte])} << (8 * byte);
    }
    return static_cast<T>(value);
  }
  std::string_view raw(std::size_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string text() { return std::string(raw(number<std::uint32_t>())); }
  std::string_view rest() { return raw(rest_.size()); }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace ballast
