// The scraping server over real sockets.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/http/http_address.h"
#include "common/metrics/metrics.h"

namespace ballast {
namespace {

int connect_to(const std::string& address) {
  const auto target = resolve_http_address(address);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(target.port);
  REQUIRE(::inet_pton(AF_INET, target.numeric.c_str(), &to.sin_addr) == 1);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
  return descriptor;
}

// What GET `path` answers, head and body.
std::string get(const std::string& address, const std::string& path) {
  const int descriptor = connect_to(address);
  const auto request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  REQUIRE(::write(descriptor, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(descriptor, buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return answer;
}

std::string refusal_of(const std::string& address) {
  Metrics metrics;
  try {
    metrics.serve(address);
  } catch (const std::runtime_error& failure) {
    return failure.what();
  }
  return {};
}

TEST_CASE("a free port is taken, told and served") {
  const auto metrics = serve_metrics("127.0.0.1:0");
  REQUIRE(metrics);
  CHECK(metrics->address().starts_with("127.0.0.1:"));
  CHECK_FALSE(metrics->address().ends_with(":0"));
  metrics->gauge("ballast_lead_sessions")->set(12);
  const auto answer = get(metrics->address(), "/metrics");
  CHECK(answer.starts_with("HTTP/1.1 200"));
  CHECK(answer.find("\nballast_lead_sessions 12\n") != std::string::npos);
  CHECK(get(metrics->address(), "/other").starts_with("HTTP/1.1 404"));
}

TEST_CASE("who connects and says half a request, or nothing, does not keep others from scraping") {
  const auto metrics = serve_metrics("127.0.0.1:0");
  REQUIRE(metrics);
  std::vector<int> unfinished;
  for (int i = 0; i < 10; ++i) {
    unfinished.push_back(connect_to(metrics->address()));
    const std::string half = i % 2 == 0 ? "GET /metrics HTTP/1.1\r\nHost: " : "";
    REQUIRE(::write(unfinished.back(), half.data(), half.size()) == static_cast<ssize_t>(half.size()));
  }
  const auto began = std::chrono::steady_clock::now();
  CHECK(get(metrics->address(), "/metrics").starts_with("HTTP/1.1 200"));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(25));
  for (const int descriptor : unfinished) {
    ::close(descriptor);
  }
}

// Whether a scrape is answered while a request stands that came first and never ends. Not if a thread had to be waited
// for that the other had: it is ended then.
bool answers_beside_half_a_request(const std::string& address) {
  const int unfinished = connect_to(address);
  const std::string half = "GET /metrics HTTP/1.1\r\nHost: ";
  REQUIRE(::write(unfinished, half.data(), half.size()) == static_cast<ssize_t>(half.size()));
  CHECK(get(address, "/metrics").starts_with("HTTP/1.1 200"));
  char end = 0;
  const bool stands = ::recv(unfinished, &end, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  ::close(unfinished);
  return stands;
}

// On a busy machine an answer may take longer than the other request may stand: not again and again.
TEST_CASE("who says half a request is not waited for by others") {
  const auto metrics = serve_metrics("127.0.0.1:0");
  REQUIRE(metrics);
  bool answers = false;
  for (int i = 0; i < 5 && !answers; ++i) {
    answers = answers_beside_half_a_request(metrics->address());
  }
  CHECK(answers);
}

TEST_CASE("a host by name is resolved") {
  const auto metrics = serve_metrics("localhost:0");
  REQUIRE(metrics);
  CHECK_FALSE(metrics->address().starts_with("localhost"));
}

TEST_CASE("an address in use is refused with the reason and the remedy") {
  const auto first = serve_metrics("127.0.0.1:0");
  REQUIRE(first);
  const auto text = refusal_of(first->address());
  CHECK(text.find("cannot serve metrics at " + first->address()) == 0);
  CHECK(text.find("another process listens there") != std::string::npos);
  CHECK(get(first->address(), "/metrics").starts_with("HTTP/1.1 200"));
}

TEST_CASE("an address that cannot be is refused with what to write") {
  for (const char* address :
       {"9090", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:90 "}) {
    CAPTURE(address);
    CHECK(refusal_of(address).find("127.0.0.1:9090") != std::string::npos);
  }
  CHECK(refusal_of("::1:9090").find("in brackets") != std::string::npos);
  CHECK(refusal_of("no-such-host.invalid:9090").find("cannot be resolved") != std::string::npos);
  CHECK(refusal_of("192.0.2.1:9090").find("cannot serve metrics at 192.0.2.1:9090: ") == 0);
}

TEST_CASE("addresses are read") {
  CHECK(resolve_http_address(":9090").bindable() == "0.0.0.0:9090");
  CHECK(resolve_http_address("*:1").bindable() == "0.0.0.0:1");
  CHECK(resolve_http_address("[::1]:80").bindable() == "[::1]:80");
}

}  // namespace
}  // namespace ballast
