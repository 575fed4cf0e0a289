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

// Once a read has failed, every further one fails; values are then zero or empty. Ask ok() or done() at the end, and
// fault() for what was wrong.
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
    if (size > rest_.size()) {
      fail("ends too early");
    }
    if (!ok()) {
      return {};
    }
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string text() { return std::string(raw(number<std::uint32_t>())); }
  std::string_view rest() { return raw(rest_.size()); }
  // Any other is a failure.
  std::uint8_t number_below(std::uint8_t limit) {
    const auto value = number<std::uint8_t>();
    if (value >= limit) {
      fail("has a number beyond what it may be");
    }
    return ok() ? value : std::uint8_t{0};
  }
  // A byte that is 0 or 1. Any other is a failure: it would be written differently than it was read.
  bool flag() {
    const auto value = number<std::uint8_t>();
    if (value > 1) {
      fail("has a flag that is neither 0 nor 1");
    }
    return ok() && value == 1;
  }

  [[nodiscard]] bool ok() const { return fault_.empty(); }
  [[nodiscard]] bool done() const { return ok() && rest_.empty(); }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  // What is wrong with the bytes, as in "the record ...": the first failure, or that bytes are left; empty if done().
  [[nodiscard]] std::string_view fault() const {
    return ok() && !rest_.empty() ? std::string_view("has bytes left over") : fault_;
  }

 private:
  void fail(std::string_view fault) {
    if (ok()) {
      fault_ = fault;
    }
  }

  std::string_view rest_;
  std::string_view fault_;  // of the first read that failed
};

}  // namespace ballast
