#include "common/http/http_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ballast {
namespace {

// A connection to a server on loopback.
class Caller {
 public:
  explicit Caller(const HttpServer& server) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto address = server.address();
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1))));
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&target), sizeof(target)) == 0);
  }
  ~Caller() { ::close(descriptor_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void say(const std::string& text) const {
    REQUIRE(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  // Until the server ends it, or there are so many bytes.
  [[nodiscard]] std::string hear(std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    std::string text;
    std::array<char, 4096> bytes{};
    for (ssize_t came = 1; came > 0 && text.size() < most;) {
      came = ::recv(descriptor_, bytes.data(), std::min(bytes.size(), most - text.size()), 0);
      text.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(came, 0)));
    }
    return text;
  }
  std::string get(const std::string& path, const std::string& host = "localhost") const {
    say("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return hear();
  }

 private:
  int descriptor_;
};

std::optional<HttpAnswer> echo(const HttpRequest& request) { return http_text(200, "at " + request.path); }

TEST_CASE("what is asked for is answered, one request a connection") {
  const HttpServer server("a test", "127.0.0.1:0", echo);
  CHECK(Caller(server).get("/a").ends_with("\r\n\r\nat /a\n"));
  CHECK(Caller(server).get("/b?c=d").ends_with("\r\n\r\nat /b\n"));
  const Caller head(server);
  head.say("HEAD /a HTTP/1.1\r\n\r\n");
  const auto answer = head.hear();
  CHECK(answer.find("Content-Length: 6") != std::string::npos);
  CHECK(answer.ends_with("\r\n\r\n"));
  const Caller post(server);
  post.say("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
  CHECK(post.hear().starts_with("HTTP/1.1 405 "));
}

TEST_CASE("a long answer comes whole to who reads late") {
  const auto long_text = std::make_shared<const std::string>(std::size_t{8} << 20U, 'x');
  const HttpServer server("a test", "127.0.0.1:0", [&](const HttpRequest&) {
    HttpAnswer answer;
    answer.body = {long_text, long_text};
    return answer;
  });
  const Caller caller(server);
  caller.say("GET / HTTP/1.1\r\n\r\n");
  CHECK(Caller(server).get("/").size() > 2 * long_text->size());  // meanwhile others are answered
  CHECK(caller.hear().size() > 2 * long_text->size());
}

TEST_CASE("who is to wait is answered when the server is woken") {
  std::atomic<int> asked = 0;
  const HttpServer server("a test", "127.0.0.1:0", [&](const HttpRequest& request) {
    return ++asked < 2 ? std::optional<HttpAnswer>() : echo(request);
  });
  const Caller caller(server);
  caller.say("GET /late HTTP/1.1\r\n\r\n");
  while (asked == 0) {
    ::usleep(1000);
  }
  server.wake();
  CHECK(caller.hear().ends_with("at /late\n"));
}

TEST_CASE("who is never answered is told so") {
  const HttpServer server("a test", "127.0.0.1:0", [](const HttpRequest&) { return std::optional<HttpAnswer>(); });
  CHECK(Caller(server).get("/").starts_with("HTTP/1.1 503 "));
}

TEST_CASE("what goes wrong with an answer ends nothing") {
  const HttpServer server("a test", "127.0.0.1:0", [](const HttpRequest& request) {
    return request.path == "/a" ? throw std::runtime_error("no") : echo(request);
  });
  CHECK(Caller(server).get("/a").starts_with("HTTP/1.1 503 "));
  CHECK(Caller(server).get("/b").ends_with("at /b\n"));
}

TEST_CASE("nobody is answered who asks for another host by name") {
  const HttpServer server("a test", "127.0.0.1:0", echo);
  for (const char* host : {"localhost", "127.0.0.1", "[::1]:80", "10.1.2.3"}) {
    CHECK(Caller(server).get("/", host).starts_with("HTTP/1.1 200 "));
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"}) {
    CHECK(Caller(server).get("/", host).starts_with("HTTP/1.1 421 "));
  }
  const HttpServer everywhere("a test", "0.0.0.0:0", echo);
  CHECK(Caller(everywhere).get("/", "10.1.2.3").starts_with("HTTP/1.1 200 "));
  CHECK(Caller(everywhere).get("/", "evil.example").starts_with("HTTP/1.1 421 "));
  const HttpServer named("a test", "localhost:0", echo);
  CHECK(Caller(named).get("/", "localhost").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("those who never end their request leave room for others") {
  const HttpServer server("a test", "127.0.0.1:0", echo);
  std::vector<std::unique_ptr<Caller>> slow;
  for (std::size_t i = 0; i < 2 * HttpServer::kConnections; ++i) {
    slow.push_back(std::make_unique<Caller>(server));
    slow.back()->say("GET / HT");
  }
  CHECK(Caller(server).get("/a").ends_with("at /a\n"));
  CHECK(slow.front()->hear().empty());  // the first has given way
}

TEST_CASE("those who do not read their answer leave room for others, and no more than is needed") {
  const auto long_text = std::make_shared<const std::string>(std::size_t{16} << 20U, 'x');
  const HttpServer server("a test", "127.0.0.1:0", [&](const HttpRequest& request) {
    HttpAnswer answer;
    answer.body = {request.path == "/long" ? long_text : std::make_shared<const std::string>("short")};
    return answer;
  });
  constexpr std::size_t kReaders = 2;
  std::vector<std::unique_ptr<Caller>> slow;
  for (std::size_t i = 0; i < HttpServer::kConnections; ++i) {
    slow.push_back(std::make_unique<Caller>(server));
    slow.back()->say("GET /long HTTP/1.1\r\n\r\n");
  }
  const std::size_t half = long_text->size() / 2;
  for (std::size_t i = 0; i < kReaders; ++i) {
    CHECK(slow[i]->hear(half).size() == half);
  }
  CHECK(Caller(server).get("/short").ends_with("short"));
  for (std::size_t i = 0; i < kReaders; ++i) {
    CHECK(half + slow[i]->hear().size() > long_text->size());
  }
}

// Both ends of a connection, of which the server's is looked at by a clock of the test's own.
struct Connected {
  explicit Connected(HttpConnection::Clock::time_point now) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    peer = ends[0];
    connection.emplace(ends[1], now);
  }
  ~Connected() { ::close(peer); }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  void ask(HttpConnection::Clock::time_point now) {
    const std::string text = "GET / HTTP/1.1\r\n\r\n";
    REQUIRE(::send(peer, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    connection->go_on(now);
  }
  void answer(HttpConnection::Clock::time_point now) {
    HttpAnswer answer;
    answer.body = {std::make_shared<const std::string>(std::size_t{4} << 20U, 'x')};
    connection->answer(answer, now);
  }
  // What is there of it.
  void read() const {
    std::vector<char> bytes(std::size_t{1} << 20U);
    CHECK(::recv(peer, bytes.data(), bytes.size(), 0) > 0);
  }

  int peer = -1;
  std::optional<HttpConnection> connection;
};

TEST_CASE("who waits for us, or is sent its answer, keeps its place; else it is who has stood still for longest") {
  using namespace std::chrono_literals;
  const auto begin = HttpConnection::Clock::now();
  Connected slow(begin);
  Connected fast(begin);
  const Connected silent(begin);
  for (auto* one : {&slow, &fast}) {
    CHECK(one->connection->stands_still_since(begin) == begin);  // where all are like it
    one->ask(begin);
    CHECK(one->connection->state() == HttpConnection::State::waits);
    CHECK_FALSE(one->connection->stands_still_since(begin + 2s));
    one->answer(begin + 2s);
    CHECK_FALSE(one->connection->stands_still_since(begin + 2s + HttpConnection::kUnjudged / 2));
  }
  fast.read();
  fast.connection->go_on(begin + 4s);
  CHECK_FALSE(fast.connection->stands_still_since(begin + 4s));
  CHECK(slow.connection->stands_still_since(begin + 4s) == begin + 2s);
  CHECK(silent.connection->stands_still_since(begin + 4s) == begin);
  CHECK(fast.connection->stands_still_since(begin + 6s) == begin + 4s);
  const Connected comes(begin + 6s);  // its request takes a moment
  CHECK(comes.connection->stands_still_since(begin + 6s) == begin + 6s);
}

TEST_CASE("an address that cannot be had is refused with the reason") {
  const HttpServer server("a test", "127.0.0.1:0", echo);
  CHECK_THROWS_WITH_AS(HttpServer("the page", server.address(), echo),
                       doctest::Contains("cannot serve the page at 127.0.0.1:"), std::runtime_error);
  CHECK_THROWS_AS(HttpServer("the page", "127.0.0.1", echo), std::runtime_error);
  CHECK_THROWS_AS(HttpServer("the page", "192.0.2.1:0", echo), std::runtime_error);  // of nobody
}

}  // namespace
}  // namespace ballast
