// A log file that is put aside when it is large: FILE is the newest, FILE.1 the one before, and so on.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace ballast {

// Thread-safe, as spdlog's sinks are. Each line is handed to the operating system before the call returns. Where a
// standard stream of this process is the same file, it goes along, so that last words of any kind are in the newest. A
// line that cannot be written (a full disk, say) is counted, and the count is told by the first one that can. A file
// that cannot be put aside is written on.
class RotatingFile final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // Appends, and makes folders. `most_bytes` 0: it is never put aside. At most `files` are kept, the newest included.
  // Throws std::system_error.
  RotatingFile(std::string path, std::uint64_t most_bytes, std::uint32_t files);
  ~RotatingFile() override;

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  void put_aside();
  bool write(const char* data, std::size_t size);

  const std::string path_;
  const std::uint64_t most_bytes_;
  const std::uint32_t files_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
  std::uint64_t try_at_ = 0;  // when it is put aside: with so many bytes
  std::uint64_t lost_ = 0;    // lines
};

}  // namespace ballast
