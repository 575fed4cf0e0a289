// Files of keys of copies.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "storage/copies/copy_keys.h"

namespace ballast::testing {

// As they are replaced: by one of another name.
inline void write_copy_keys(const std::filesystem::path& file, const std::vector<CopyKey>& keys) {
  auto other = file;
  other += ".new";
  std::ofstream out(other);
  for (const auto& key : keys) {
    out << format_copy_key(key);
  }
  out.close();
  std::filesystem::permissions(other, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::rename(other, file);
}

inline CopyKeys loaded_copy_keys(const std::filesystem::path& file) {
  auto keys = CopyKeys::load(file);
  REQUIRE_MESSAGE(keys.ok(), (keys.ok() ? "" : keys.status().text()));
  return std::move(keys.value());
}

}  // namespace ballast::testing
