// Writes many records into a database in batches that are bounded in bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "storage/store/store.h"

namespace ballast {

// One thread. Holds one batch in memory: 4 MiB, and the record that filled it.
class BatchWriter {
 public:
  explicit BatchWriter(Store& store) : store_(store) {}

  // Not durable before finish().
  StoreStatus put(std::string_view key, std::string record) {
    bytes_ += record.size();
    batch_.put(std::string(key), std::move(record));
    return bytes_ >= kBatchBytes ? flush(Sync::no) : StoreStatus{};
  }
  // All that was put is durable when it returns ok.
  StoreStatus finish() { return flush(Sync::yes); }

 private:
  static constexpr std::size_t kBatchBytes = 4U << 20U;

  StoreStatus flush(Sync sync) {
    const auto full = std::exchange(batch_, {});
    bytes_ = 0;
    return store_.write(full, sync);
  }

  Store& store_;
  WriteBatch batch_;
  std::size_t bytes_ = 0;
};

}  // namespace ballast
