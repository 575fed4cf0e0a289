#include "cli/asking/footprint.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStuck = 2;  // of segments that were sent again: once may be chance

fs::path of_process(pid_t pid) { return fs::path("/proc") / std::to_string(pid); }

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What a line "name: 12 kB" of the text says, or "name 12 ...".
std::uint64_t number_behind(const std::string& text, const std::string& name) {
  const auto at = text.find(name);
  std::uint64_t value = 0;
  if (at != std::string::npos) {
    std::istringstream(text.substr(at + name.size())) >> value;
  }
  return value;
}

std::uint64_t hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// The kernel writes addresses word by word, each as the machine has it.
std::string address_of(const std::string& text) {
  const auto colon = text.find(':');
  if (colon != 8 && colon != 32) {
    return {};
  }
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < colon / 8; ++i) {
    words[i] = static_cast<std::uint32_t>(hexadecimal(std::string_view(text).substr(8 * i, 8)));
  }
  std::array<char, INET6_ADDRSTRLEN> name{};
  if (inet_ntop(colon == 8 ? AF_INET : AF_INET6, words.data(), name.data(), name.size()) == nullptr) {
    return {};
  }
  const std::string host = name.data();
  return (colon == 8 ? host : "[" + host + "]") + ":" +
         std::to_string(hexadecimal(std::string_view(text).substr(colon + 1)));
}

// Seconds that its threads were ready and had no processor.
double starved(pid_t pid) {
  std::error_code ended;
  double nanoseconds = 0;
  for (const auto& thread : fs::directory_iterator(of_process(pid) / "task", ended)) {
    std::istringstream in(text_of(thread.path() / "schedstat"));
    double on = 0;
    double waited = 0;
    in >> on >> waited;
    nanoseconds += waited;
  }
  return nanoseconds / 1e9;
}

std::vector<StuckConnection> stuck_connections(pid_t pid, const std::set<std::uint64_t>& sockets) {
  std::vector<StuckConnection> found;
  for (const auto* table : {"net/tcp", "net/tcp6"}) {
    std::istringstream lines(text_of(of_process(pid) / table));
    for (std::string line; std::getline(lines, line);) {
      if (const auto read = read_tcp_line(line); read && sockets.contains(read->inode)) {
        found.push_back(read->stuck);
      }
    }
  }
  return found;
}

}  // namespace

std::optional<TcpLine> read_tcp_line(const std::string& line) {
  std::istringstream in(line);
  std::string number;
  std::string own;
  std::string peer;
  std::string state;
  std::string queues;
  std::string timer;
  std::string again;
  std::string user;
  std::string timeout;
  TcpLine read;
  if (!(in >> number >> own >> peer >> state >> queues >> timer >> again >> user >> timeout >> read.inode)) {
    return std::nullopt;
  }
  read.stuck = {address_of(peer), hexadecimal(again), hexadecimal(queues.substr(0, queues.find(':')))};
  constexpr const char* kRetransmits = "01:";
  return timer.starts_with(kRetransmits) && read.stuck.again >= kStuck && !read.stuck.peer.empty() ? std::optional(read)
                                                                                                   : std::nullopt;
}

FootprintSpan::FootprintSpan(pid_t pid) : pid_(pid), before_(counters(pid)) {}

std::optional<FootprintSpan::Counters> FootprintSpan::counters(pid_t pid) {
  const auto text = text_of(of_process(pid) / "stat");
  const auto behind_name = text.rfind(')');  // it may have any character
  if (behind_name == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream in(text.substr(behind_name + 1));
  Counters now;
  in >> now.state;
  std::string skipped;
  for (int i = 0; i < 10; ++i) {
    in >> skipped;
  }
  double user = 0;
  double system = 0;
  in >> user >> system;
  now.processor = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  now.starved = starved(pid);
  now.written = number_behind(text_of(of_process(pid) / "io"), "\nwrite_bytes:");
  return now.state == 'Z' || now.state == 'X' ? std::nullopt : std::optional(now);
}

std::optional<Footprint> FootprintSpan::end() const {
  const auto now = counters(pid_);
  if (!before_ || !now) {
    return std::nullopt;
  }
  const std::chrono::duration<double> span = std::chrono::steady_clock::now() - began_;
  Footprint found;
  found.state = now->state;
  found.processor = (now->processor - before_->processor) / span.count();
  found.starved = (now->starved - before_->starved) / span.count();
  found.written = static_cast<double>(now->written - before_->written) / span.count();
  found.memory = 1'024 * number_behind(text_of(of_process(pid_) / "status"), "VmRSS:");
  found.descriptor_limit = number_behind(text_of(of_process(pid_) / "limits"), "Max open files");
  std::set<std::uint64_t> sockets;
  std::error_code unknown;
  for (const auto& descriptor : fs::directory_iterator(of_process(pid_) / "fd", unknown)) {
    ++found.descriptors;
    const auto target = fs::read_symlink(descriptor.path(), unknown).string();
    if (target.starts_with("socket:[")) {
      sockets.insert(number_behind(target, "socket:["));
    }
  }
  found.stuck = stuck_connections(pid_, sockets);
  return found;
}

std::vector<pid_t> processes_of(const std::string& program, const std::string& word) {
  std::vector<pid_t> found;
  std::error_code unknown;
  for (const auto& entry : fs::directory_iterator("/proc", unknown)) {
    pid_t pid = 0;
    const auto name = entry.path().filename().string();
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) {
      continue;
    }
    const auto command = text_of(entry.path() / "cmdline");
    const auto path = fs::path(command.substr(0, command.find('\0')));
    if (path.filename() == program && command.find(word) != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace ballast
