// What a process of this machine takes of it, as the kernel tells (/proc).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

// A TCP connection of which nothing is acknowledged: what was sent is sent again and again.
struct StuckConnection {
  std::string peer;         // 10.0.0.7:41234
  std::uint64_t again = 0;  // so often in a row
  std::uint64_t bytes = 0;  // that wait to be acknowledged
};

struct Footprint {
  char state = 0;            // as `ps` has it: R, S, D, T, ...; D only if it was so both times
  double processor = 0;      // of one, over the span that was looked at
  double starved = 0;        // of the span it was ready to run and had no processor; of several threads their sum
  double written = 0;        // bytes a second, to disks
  std::uint64_t memory = 0;  // resident, bytes
  std::uint64_t descriptors = 0;
  std::uint64_t descriptor_limit = 0;  // 0: not known
  std::vector<StuckConnection> stuck;

  // Of the descriptors that it may have hardly any is left: a server that is short of them cuts strangers, and has some
  // again for a moment.
  [[nodiscard]] bool lacks_descriptors() const {
    constexpr double kUsedUp = 0.85;
    return descriptor_limit > 0 && static_cast<double>(descriptors) >= kUsedUp * static_cast<double>(descriptor_limit);
  }
};

// Looks at one process twice. What another user's process does not show is 0. A connection is stuck if it is so both
// times: a segment or two are sent again on any network.
class FootprintSpan {
 public:
  explicit FootprintSpan(pid_t pid);
  // None: it has ended.
  [[nodiscard]] std::optional<Footprint> end() const;

 private:
  struct Counters {
    char state = 0;
    std::uint64_t started = 0;  // when, by the kernel's count: a pid may be another's meanwhile
    double processor = 0;       // seconds
    double starved = 0;
    std::uint64_t written = 0;
  };
  static std::optional<Counters> counters(pid_t pid);

  pid_t pid_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<Counters> before_;
  std::vector<StuckConnection> stuck_before_;
};

// Processes of that program on this machine whose command line has the word, as those that were told a lead's address.
std::vector<pid_t> processes_of(const std::string& program, const std::string& word);

// Of one line of /proc/PID/net/tcp or tcp6: the connection's inode, and what is stuck in it, if its segments were sent
// again twice in a row at least. None: nothing is, or it is no such line.
struct TcpLine {
  std::uint64_t inode = 0;
  StuckConnection stuck;
};
std::optional<TcpLine> read_tcp_line(const std::string& line);

}  // namespace ballast
