#include "cli/asking/footprint.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStuck = 2;  // of segments that were sent again: once may be chance

fs::path of_process(pid_t pid) { return fs::path("/proc") / std::to_string(pid); }

std::string text_of(const fs::path& file) {
  // A process that ends meanwhile makes reads fail, which is no error here.
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
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

struct Sockets {
  std::set<std::uint64_t> inodes;
  std::uint64_t descriptors = 0;  // of all kinds
};

Sockets sockets_of(pid_t pid) {
  Sockets found;
  std::error_code unknown;
  for (const auto& descriptor : fs::directory_iterator(of_process(pid) / "fd", unknown)) {
    ++found.descriptors;
    const auto target = fs::read_symlink(descriptor.path(), unknown).string();
    constexpr const char* kSocket = "socket:[";
    if (target.starts_with(kSocket)) {
      found.inodes.insert(number_behind(target, kSocket));
    }
  }
  return found;
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

FootprintSpan::FootprintSpan(pid_t pid)
    : pid_(pid), before_(counters(pid)), stuck_before_(stuck_connections(pid, sockets_of(pid).inodes)) {}

std::optional<FootprintSpan::Counters> FootprintSpan::counters(pid_t pid) {
  const auto text = text_of(of_process(pid) / "stat");
  const auto behind_name = text.rfind(')');  // it may have any character
  if (behind_name == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream in(text.substr(behind_name + 1));
  Counters now;
  in >> now.state;
  // From the third field on (proc(5)): the state; times are the 14th and the 15th, the start is the 22nd.
  std::vector<std::string> fields;
  for (std::string field; fields.size() < 20 && in >> field;) {
    fields.push_back(field);
  }
  constexpr std::size_t kUser = 10;
  constexpr std::size_t kSystem = 11;
  constexpr std::size_t kStarted = 18;
  if (fields.size() <= kStarted) {
    return std::nullopt;
  }
  const auto user = std::strtod(fields[kUser].c_str(), nullptr);
  const auto system = std::strtod(fields[kSystem].c_str(), nullptr);
  now.started = std::strtoull(fields[kStarted].c_str(), nullptr, 10);
  now.processor = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  now.starved = starved(pid);
  now.written = number_behind(text_of(of_process(pid) / "io"), "\nwrite_bytes:");
  return now.state == 'Z' || now.state == 'X' ? std::nullopt : std::optional(now);
}

std::optional<Footprint> FootprintSpan::end() const {
  const auto now = counters(pid_);
  if (!before_ || !now || now->started != before_->started) {
    return std::nullopt;
  }
  const std::chrono::duration<double> span = std::chrono::steady_clock::now() - began_;
  Footprint found;
  constexpr char kDiskWait = 'D';
  found.state = now->state == kDiskWait && before_->state != kDiskWait ? 'S' : now->state;
  const auto each_second = [&](double before, double after) { return std::max(0.0, after - before) / span.count(); };
  found.processor = each_second(before_->processor, now->processor);
  found.starved = each_second(before_->starved, now->starved);
  found.written = each_second(static_cast<double>(before_->written), static_cast<double>(now->written));
  found.memory = 1'024 * number_behind(text_of(of_process(pid_) / "status"), "VmRSS:");
  found.descriptor_limit = number_behind(text_of(of_process(pid_) / "limits"), "Max open files");
  const auto sockets = sockets_of(pid_);
  found.descriptors = sockets.descriptors;
  for (const auto& stuck : stuck_connections(pid_, sockets.inodes)) {
    if (std::ranges::find(stuck_before_, stuck.peer, &StuckConnection::peer) != stuck_before_.end()) {
      found.stuck.push_back(stuck);
    }
  }
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
    std::istringstream words(text_of(entry.path() / "cmdline"));
    std::string one;
    std::getline(words, one, '\0');
    const bool is_program = fs::path(one).filename() == program;
    bool has_word = false;
    while (is_program && std::getline(words, one, '\0')) {
      has_word = has_word || one == word || one.ends_with("=" + word);
    }
    if (has_word) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace ballast
