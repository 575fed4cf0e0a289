// A small HTTP server of what may be read: one thread, GET and HEAD, one request a connection.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/http/http_address.h"
#include "common/http/http_connection.h"
#include "common/net/wakeup.h"

namespace ballast {

// So many connections at once; while they are all there, a further one takes the place of the one of which nothing has
// come for longest: no whole request, or hardly a byte more of its answer. It waits where all wait for an answer or are
// being sent one. Its thread sleeps while nobody is connected.
//
// A request for another host than a number, "localhost" or the host that it was told is refused: what a browser shows
// of elsewhere must not read it by a name that leads here (DNS rebinding).
class HttpServer {
 public:
  static constexpr std::size_t kConnections = 32;

  // What is said to a request; nothing as yet: it is asked again after wake(), until kWaits of HttpConnection is over.
  // Called by the server's thread, and must not wait. What it throws is a 503.
  using Handler = std::function<std::optional<HttpAnswer>(const HttpRequest&)>;

  // Listens at HOST:PORT; port 0 takes a free one. `what`: what is served, for the text of a failure. Throws
  // std::runtime_error with the address, the reason and the remedy.
  HttpServer(const std::string& what, const std::string& address, Handler handler);
  ~HttpServer();  // cuts who is connected
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // HOST:PORT with the port filled in.
  [[nodiscard]] std::string address() const { return address_.bindable(); }
  // From any thread: those who wait may have an answer now.
  void wake() const { wakeup_.signal(); }

 private:
  using Clock = HttpConnection::Clock;

  void serve(const std::stop_token& ended);
  [[nodiscard]] int until_the_next(Clock::time_point now) const;  // milliseconds; -1: for ever
  [[nodiscard]] bool accepts(Clock::time_point now) const;
  void accept(Clock::time_point now);
  void make_room(Clock::time_point now);
  void tend(Clock::time_point now);
  [[nodiscard]] std::optional<HttpAnswer> answer_to(const HttpRequest& request) const;

  HttpAddress address_;
  Handler handler_;
  int listener_ = -1;
  Wakeup wakeup_;
  std::vector<HttpConnection> connections_;
  Clock::time_point accepts_from_{};
  std::jthread thread_;
};

}  // namespace ballast
