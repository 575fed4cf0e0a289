// A web server on loopback that answers as a test tells it to, well or badly.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ballast::testing {

struct Request {
  std::string path;
  std::optional<std::uint64_t> range_first;  // of "Range: bytes=FIRST-"
};

struct Response {
  std::string head;           // status line and headers, without the empty line after them
  std::string body;           // what is really sent
  bool stands_still = false;  // after the body the connection stays open, and nothing comes
};

// All of `content`, as a server does that knows nothing of ranges.
Response whole(const std::string& content);
// What the request asks for; 416 if there is nothing at the range.
Response ranged(const std::string& content, const Request& request);
// Any status without a body.
Response status(const std::string& line);

class Server {
 public:
  using Answer = std::function<Response(const Request&)>;

  explicit Server(Answer answer);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<Request> requests() const;

 private:
  void serve();
  void answer_one(int connection);

  Answer answer_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> closing_ = false;
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::vector<int> standing_;
  std::thread thread_;
};

// An address at which nobody listens.
std::string dead_url();

}  // namespace ballast::testing
