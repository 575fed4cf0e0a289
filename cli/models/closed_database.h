// Whether a server has a database open, and keeping it from being opened.
#pragma once

#include <filesystem>

namespace ballast {

// RocksDB's own lock: as long as it is held, no server opens the database.
class ClosedDatabase {
 public:
  // Throws std::runtime_error naming the database if a server has it open, or that cannot be told.
  explicit ClosedDatabase(const std::filesystem::path& database);
  // The same, changing nothing: also where nothing may be written. No server has one open that never had a lock, and
  // then nothing keeps one from it.
  static ClosedDatabase to_read(const std::filesystem::path& database);
  ~ClosedDatabase();
  ClosedDatabase(ClosedDatabase&& other) noexcept;
  ClosedDatabase(const ClosedDatabase&) = delete;
  ClosedDatabase& operator=(const ClosedDatabase&) = delete;

 private:
  ClosedDatabase(const std::filesystem::path& database, int fd, short kind);
  explicit ClosedDatabase(int fd) : fd_(fd) {}

  int fd_;
};

// Whether another process has the database open; true also where that cannot be told. Changes nothing.
bool is_open_elsewhere(const std::filesystem::path& database);

}  // namespace ballast
