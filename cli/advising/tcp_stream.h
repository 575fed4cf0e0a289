// Plain TCP for measuring links: blocking sockets with time limits, and what comes over them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/http/http_address.h"

namespace ballast {

// Closed with it. Calls give up after a few seconds without progress.
class TcpStream {
 public:
  TcpStream() = default;  // none
  explicit TcpStream(int descriptor);
  ~TcpStream() { close(); }
  TcpStream(TcpStream&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpStream& operator=(TcpStream&& other) noexcept;
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  // Throws std::runtime_error with the reason, not the address.
  static TcpStream connect(const HttpAddress& address);

  [[nodiscard]] int descriptor() const { return descriptor_; }
  void close();
  // What is not sent yet is dropped when it is closed.
  void drop_unsent() const;

  // False: the other side is gone, or too slow.
  bool send(std::string_view text) const;
  // Without waiting. False: not all of it has room on the way; the stream is of no use any more.
  bool send_now(std::string_view text) const;
  // Up to the line break, which is not a part of it; none: it is longer than `most`, or not there `within` that time.
  [[nodiscard]] std::optional<std::string> line(std::size_t most,
                                                std::chrono::milliseconds within = std::chrono::seconds(5)) const;
  // Whether a byte came; then it is the answer.
  [[nodiscard]] std::optional<char> byte() const;

 private:
  int descriptor_ = -1;
};

inline constexpr std::uint64_t kMostStreamed = std::uint64_t{2} << 30U;  // bytes of one connection

// What came, from 0.3 s after the first byte on; of all of it where there is no more than that.
struct Arrived {
  std::uint64_t bytes = 0;
  std::uint64_t micros = 0;
  [[nodiscard]] double rate() const {
    return micros > 0 ? static_cast<double>(bytes) / static_cast<double>(micros) : 0;
  }
};

// Until the other side ends, or for so long at most, or kMostStreamed bytes.
Arrived arrive(const TcpStream& stream, std::chrono::milliseconds most);
// Zeros, for so long or as long as there is somebody who takes them.
void stream_zeros(const TcpStream& stream, std::chrono::milliseconds span);

}  // namespace ballast
