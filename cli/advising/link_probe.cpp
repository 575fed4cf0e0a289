#include "cli/advising/link_probe.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cli/advising/link_words.h"
#include "cli/advising/tcp_stream.h"

namespace ballast {
namespace {

constexpr int kRoundTrips = 30;

class Conversation {
 public:
  explicit Conversation(const std::string& address) : address_(address) {
    try {
      where_ = resolve_http_address(address);
      control_ = TcpStream::connect(where_);
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
    control_.send(link_words::kGreeting + "hello\n");
    const auto answer = control_.line(link_words::kMostLine);
    if (answer == "busy") {
      fail("it is busy with another machine's probe; try again when that is over, in half a minute at the latest");
    }
    if (!answer || !answer->starts_with("ok ")) {
      fail("whoever is there is no `ballast probe --listen` of this release");
    }
    token_ = answer->substr(3);
  }

  double round_trip() {
    double quickest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRoundTrips; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      if (!control_.send("p") || !control_.byte()) {
        fail("it does not answer any more");
      }
      quickest = std::min(quickest,
                          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    return quickest;
  }

  // Rates are the sum over the connections.
  double up(std::size_t connections) {
    over(connections, "up",
         [](const TcpStream& stream, std::size_t /*place*/) { stream_zeros(stream, link_words::kSpan); });
    double sum = 0;
    for (std::size_t i = 0; i < connections; ++i) {
      sum += reported();
    }
    return sum;
  }

  double down(std::size_t connections) {
    std::vector<double> rates(connections);
    over(connections, "down", [&rates](const TcpStream& stream, std::size_t place) {
      rates[place] = arrive(stream, link_words::kSpan).rate();
    });
    double sum = 0;
    for (const auto rate : rates) {
      sum += rate;
    }
    return sum > 0 ? sum : (fail("nothing came from it"), 0);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error("--to " + address_ + ": " + why +
                             "; on that machine `ballast probe --listen HOST:PORT` must run");
  }

  void over(std::size_t connections, const std::string& way,
            const std::function<void(const TcpStream&, std::size_t)>& run) {
    std::vector<TcpStream> streams;
    for (std::size_t i = 0; i < connections; ++i) {
      try {
        streams.push_back(TcpStream::connect(where_));
      } catch (const std::runtime_error& error) {
        fail(error.what());
      }
      streams.back().drop_unsent();
      streams.back().send(link_words::kGreeting + way + " " + token_ + "\n");
    }
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < connections; ++i) {
      threads.emplace_back([&, i] { run(streams[i], i); });
    }
  }

  double reported() {
    const auto line = control_.line(link_words::kMostLine);
    std::uint64_t bytes = 0;
    std::uint64_t micros = 0;
    if (line && line->starts_with("up ")) {
      const auto* const end = line->data() + line->size();
      const auto first = std::from_chars(line->data() + 3, end, bytes);
      if (first.ec == std::errc() && first.ptr != end) {
        std::from_chars(first.ptr + 1, end, micros);
      }
    }
    if (bytes == 0 || micros == 0) {
      fail("it does not say what came there");
    }
    return static_cast<double>(bytes) / static_cast<double>(micros);
  }

  std::string address_;
  HttpAddress where_;
  TcpStream control_;
  std::string token_;
};

}  // namespace

LinkProbe probe_link(const std::string& address) {
  Conversation conversation(address);
  LinkProbe probe{.to = address};
  probe.round_trip = conversation.round_trip();
  probe.up_of_one = conversation.up(1);
  probe.down_of_one = conversation.down(1);
  probe.up = std::max(probe.up_of_one, conversation.up(link_words::kConnections));
  probe.down = std::max(probe.down_of_one, conversation.down(link_words::kConnections));
  return probe;
}

}  // namespace ballast
