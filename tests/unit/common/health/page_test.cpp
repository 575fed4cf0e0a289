// Pages as they are written, and what answers that is none.
#include "common/health/page.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "common/metrics/metrics.h"

namespace ballast {
namespace {

// Takes one connection and a request, and says what it is to say, whatever was asked.
class Stranger {
 public:
  enum class Then { close, wait };  // until the other end closes

  Stranger(std::string words, Then then) : words_(std::move(words)), then_(then) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&here), sizeof(here)) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    socklen_t size = sizeof(here);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
    thread_ = std::jthread([this] {
      const int descriptor = ::accept(listener_, nullptr, nullptr);
      if (descriptor >= 0) {
        char request[256];
        [[maybe_unused]] const auto asked = ::recv(descriptor, request, sizeof(request), 0);
        [[maybe_unused]] const auto said = ::send(descriptor, words_.data(), words_.size(), MSG_NOSIGNAL);
        while (then_ == Then::wait && ::recv(descriptor, request, sizeof(request), 0) > 0) {
        }
        ::close(descriptor);
      }
    });
  }
  ~Stranger() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_ = {};
    ::close(listener_);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  std::string words_;
  Then then_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string address_;
  std::jthread thread_;
};

std::string why_no_page(const std::string& address) {
  try {
    fetch_page(address, std::chrono::milliseconds(300));
  } catch (const std::runtime_error& failure) {
    return failure.what();
  }
  return {};
}

TEST_CASE("series are read as they are written") {
  Metrics metrics;
  metrics.gauge("ballast_shard_serving", {"0"})->set(1);
  metrics.gauge("ballast_shard_serving", {"1"})->set(0);
  metrics.gauge("ballast_lead_worker_live", {"a \"b\" 3"})->set(1.5);
  const auto series = read_series(metrics.text());
  CHECK(series.at(R"(ballast_shard_serving{lane="0"})") == 1);
  CHECK(series.at(R"(ballast_shard_serving{lane="1"})") == 0);
  CHECK(series.at(R"(ballast_lead_worker_live{worker="a \"b\" 3"})") == 1.5);
}

TEST_CASE("lines that are no series are left out") {
  const auto series = read_series("# HELP a 1\n\na 1\nb x\nc\n 2\nd 3x\nballast_e 1e3\nf +Inf");
  CHECK(series.size() == 3);
  CHECK(series.at("a") == 1);
  CHECK(series.at("ballast_e") == 1000);
  CHECK(series.at("") == 2);
}

TEST_CASE("a page that is served is fetched whole") {
  const auto metrics = serve_metrics("127.0.0.1:0");
  for (int i = 0; i < 4000; ++i) {  // more than a socket's buffers hold
    metrics->gauge("ballast_lead_worker_live", {"worker-" + std::to_string(i)})->set(i);
  }
  const auto series = read_series(fetch_page(metrics->address(), std::chrono::seconds(10)));
  CHECK(series.at(R"(ballast_lead_worker_live{worker="worker-3999"})") == 3999);
}

TEST_CASE("where no page is, the reason is told with the address") {
  const Stranger silent("", Stranger::Then::wait);
  CHECK(why_no_page(silent.address()) == "no metrics page at " + silent.address() + ": it does not answer");
  const Stranger other("SSH-2.0-OpenSSH_9.2\r\n\r\n", Stranger::Then::wait);
  CHECK(why_no_page(other.address()).find("does not answer") != std::string::npos);
  CHECK(why_no_page("127.0.0.1:1").find("Connection refused") != std::string::npos);
  CHECK(why_no_page("no-such-host.invalid:1").find("cannot be resolved") != std::string::npos);
}

TEST_CASE("an answer that is none is told") {
  const auto answered = [](const std::string& words) {
    const Stranger stranger(words, Stranger::Then::close);
    return why_no_page(stranger.address());
  };
  CHECK(answered("HTTP/1.1 404 Not Found\r\n\r\n").find("serves none") != std::string::npos);
  CHECK(answered("HTTP/1.1 200 OK\r\n").find("serves none") != std::string::npos);
  CHECK(answered("nonsense\r\n\r\n").find("serves none") != std::string::npos);
  CHECK(answered("HTTP/1.0 200 OK\r\n\r\na 1\n").empty());
}

}  // namespace
}  // namespace ballast
