// Whether all that had come to a socket by some moment has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace ballast {

// A ROUTER takes one message at a time of each connection that has some, in turn, and of one connection at most
// `unread` messages wait. So what waits is read when the socket has been found empty, or else, as one that speaks
// without end keeps it from ever being empty, when any one connection has given more than those. One thread.
class ReadRounds {
 public:
  using Moment = std::uint64_t;

  // `unread`: as SocketOptions has it; 0: there is no bound, and only an empty socket tells.
  explicit ReadRounds(int unread) : unread_(static_cast<std::uint32_t>(unread)) {}

  [[nodiscard]] Moment now() const { return round_; }
  // Whether all that waited to be read at that moment has been.
  [[nodiscard]] bool is_read(Moment moment) const { return round_ >= moment + kRounds; }

  // A message of this connection was read, by its routing id.
  void read(const std::string& connection);
  // A read has found the socket empty.
  void found_empty();

 private:
  // A moment lies within a round: the one after it is whole.
  static constexpr Moment kRounds = 2;
  // The socket holds one beside those that wait, and of a round's first turn some may have been read before it began.
  static constexpr std::uint32_t kMore = 2;
  static constexpr std::size_t kMostCounted = 65536;  // of further ones it is not told how much they give

  const std::uint32_t unread_;
  Moment round_ = 0;
  std::unordered_map<std::string, std::uint32_t> given_;  // in this round, by connection
};

}  // namespace ballast
