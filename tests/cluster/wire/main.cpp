// A link of Ethernet that takes time and loses frames: a TAP device at each of its ends, each in a network namespace.
//
//   ballast-wire NAMESPACE DEVICE NAMESPACE DEVICE
//
// prints "ready" when both devices are there, and goes on until its input ends. Each line of its input says how the
// link is from now on: the delay of a frame one way in microseconds, and the part of frames that are lost, 0 to 1. Both
// ways are alike. What is on its way is bounded: a frame for which there is no room is lost. Needs root.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  // on their way, each way
constexpr std::size_t kFrame = 65'536;

std::runtime_error failure(const std::string& what) { return std::runtime_error(what + ": " + std::strerror(errno)); }

class End {
 public:
  // The device is made in the namespace that this process is in when it opens it.
  End(const std::string& network, const std::string& device) {
    const int there = ::open(("/run/netns/" + network).c_str(), O_RDONLY | O_CLOEXEC);
    if (there < 0 || ::setns(there, CLONE_NEWNET) != 0) {
      throw failure(network);
    }
    ::close(there);
    descriptor_ = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    device.copy(request.ifr_name, IFNAMSIZ - 1);
    if (descriptor_ < 0 || ::ioctl(descriptor_, TUNSETIFF, &request) != 0) {
      throw failure(device);
    }
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Nothing: there is none now.
  std::optional<std::vector<char>> read() {
    const auto size = ::read(descriptor_, room_.data(), room_.size());
    return size > 0 ? std::optional(std::vector<char>(room_.begin(), room_.begin() + size)) : std::nullopt;
  }
  // A device that is down, or whose queue is full, loses it.
  void write(const std::vector<char>& frame) { lost_ += ::write(descriptor_, frame.data(), frame.size()) < 0 ? 1 : 0; }

 private:
  int descriptor_ = -1;
  std::size_t lost_ = 0;
  std::vector<char> room_ = std::vector<char>(kFrame);
};

struct Quality {
  std::chrono::microseconds delay{0};
  double loss = 0;
};

// One way.
class Way {
 public:
  Way(End& from, End& to, const Quality& quality, unsigned seed)
      : from_(from), to_(to), quality_(quality), random_(seed) {}

  void take_in() {
    constexpr int kAtOnce = 256;
    for (int i = 0; i < kAtOnce; ++i) {
      auto frame = from_.read();
      if (!frame) {
        return;
      }
      const bool is_lost = std::uniform_real_distribution(0.0, 1.0)(random_) < quality_.loss;
      if (!is_lost && bytes_ + frame->size() <= kMostBytes) {
        bytes_ += frame->size();
        under_way_.push_back({Clock::now() + quality_.delay, *std::move(frame)});
      }
    }
  }

  void let_out() {
    while (!under_way_.empty() && under_way_.front().there <= Clock::now()) {
      to_.write(under_way_.front().frame);
      bytes_ -= under_way_.front().frame.size();
      under_way_.pop_front();
    }
  }

  // When the next one is there.
  [[nodiscard]] std::optional<Clock::time_point> next() const {
    return under_way_.empty() ? std::nullopt : std::optional(under_way_.front().there);
  }

 private:
  struct Frame {
    Clock::time_point there;
    std::vector<char> frame;
  };

  End& from_;
  End& to_;
  const Quality& quality_;
  std::mt19937 random_;
  std::deque<Frame> under_way_;
  std::size_t bytes_ = 0;
};

class Wire {
 public:
  Wire(End& one, End& other)
      : one_(one), other_(other), there_(one, other, quality_, 1), back_(other, one, quality_, 2) {}

  void run() {
    while (true) {
      std::array<pollfd, 3> polled{
          {{STDIN_FILENO, POLLIN, 0}, {one_.descriptor(), POLLIN, 0}, {other_.descriptor(), POLLIN, 0}}};
      wait(polled);
      if (((polled[1].revents | polled[2].revents) & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
        throw std::runtime_error("one of its devices is gone");
      }
      there_.take_in();
      back_.take_in();
      there_.let_out();
      back_.let_out();
      if (polled[0].revents != 0 && !change()) {
        return;
      }
    }
  }

 private:
  void wait(std::array<pollfd, 3>& polled) const {
    std::optional<Clock::time_point> next = there_.next();
    if (const auto back = back_.next(); back && (!next || *back < *next)) {
      next = back;
    }
    timespec time{};
    if (next) {
      const auto left = std::max<std::chrono::nanoseconds>(*next - Clock::now(), std::chrono::nanoseconds(0)).count();
      time = {left / 1'000'000'000, left % 1'000'000'000};
    }
    if (::ppoll(polled.data(), polled.size(), next ? &time : nullptr, nullptr) < 0 && errno != EINTR) {
      throw failure("poll");
    }
  }

  // Whether the input goes on.
  bool change() {
    std::array<char, 256> line{};
    if (std::fgets(line.data(), line.size(), stdin) == nullptr) {
      return false;
    }
    long long delay = 0;
    double loss = 0;
    if (std::sscanf(line.data(), "%lld %lf", &delay, &loss) != 2 || delay < 0 || !(loss >= 0 && loss <= 1)) {
      throw std::runtime_error("say the delay in microseconds and the part that is lost, not: " +
                               std::string(line.data()));
    }
    quality_ = {std::chrono::microseconds(delay), loss};
    return true;
  }

  Quality quality_;
  End& one_;
  End& other_;
  Way there_;
  Way back_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fputs("ballast-wire NAMESPACE DEVICE NAMESPACE DEVICE\n", stderr);
    return 2;
  }
  try {
    std::setvbuf(stdin, nullptr, _IONBF, 0);
    End one(words[1], words[2]);
    End other(words[3], words[4]);
    std::puts("ready");
    std::fflush(stdout);
    Wire(one, other).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-wire: %s\n", error.what());
    return 1;
  }
}
