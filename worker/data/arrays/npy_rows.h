// The rows of an array one after the other, for arrays that are looked at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "worker/data/arrays/npy.h"

namespace ballast {

// Reads what read_array() reads, but holds one row at a time. Not thread-safe. Each error is a std::runtime_error that
// names the file, what is wrong and the remedy.
class NpyRows {
 public:
  // The array NAME of `root`, as of read_array(). Reads the header.
  NpyRows(const std::filesystem::path& root, const std::string& name);

  [[nodiscard]] const NpyHeader& header() const { return header_; }
  // Values of a row. Requires an array with rows: its shape has an extent.
  [[nodiscard]] std::uint64_t row_size() const;
  // The next row's values; whoever calls has looked at row_size() first. At the end false: then the file is as long as
  // its header says, and a member's checksum right.
  bool next(std::vector<double>& row);

 private:
  void read_header();
  [[noreturn]] void refuse(const std::string& what) const;

  std::string where_;
  std::function<std::size_t(std::span<std::uint8_t>)> read_;  // as ByteSource::read
  NpyHeader header_;
  std::uint64_t taken_ = 0;  // rows
  std::vector<std::uint8_t> bytes_;
};

}  // namespace ballast
