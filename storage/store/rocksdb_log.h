// What RocksDB would write into a file of its own goes to the process's log, at level debug. Such a file would be on
// the database's disk, and RocksDB (7.8, as Debian builds it) aborts the process when it writes to one that was once
// refused.
#pragma once

#include <rocksdb/env.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "common/log/log.h"

namespace ballast {

// Thread-safe.
class RocksdbLog final : public rocksdb::Logger {
 public:
  RocksdbLog() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    if (!log_enabled(LogLevel::debug)) {
      return;
    }
    std::array<char, 1024> line{};  // what is longer is cut off
    std::vsnprintf(line.data(), line.size(), format, arguments);
    log_debug("rocksdb: {}", line.data());
  }
};

}  // namespace ballast
