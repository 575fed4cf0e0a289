#include "tests/unit/common/download/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ballast::testing {

namespace {

std::pair<int, std::uint16_t> listen_on_loopback() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || ::bind(fd, any, size) != 0 || ::listen(fd, 16) != 0 || ::getsockname(fd, any, &size) != 0) {
    throw std::runtime_error("no server on loopback");
  }
  return {fd, ntohs(address.sin_port)};
}

std::string read_head(int connection) {
  std::string head;
  std::array<char, 4096> buffer{};
  while (head.find("\r\n\r\n") == std::string::npos) {
    const auto got = ::recv(connection, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      break;
    }
    head.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return head;
}

Request parse(const std::string& head) {
  Request request;
  const auto begin = head.find(' ') + 1;
  request.path = head.substr(begin, head.find(' ', begin) - begin);
  const std::string range = "Range: bytes=";
  if (const auto at = head.find(range); at != std::string::npos) {
    request.range_first = std::stoull(head.substr(at + range.size()));
  }
  return request;
}

// A client may be gone by now.
void send_all(int connection, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto part = ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (part <= 0) {
      return;
    }
    sent += static_cast<std::size_t>(part);
  }
}

std::string length_line(std::size_t bytes) { return "\r\nContent-Length: " + std::to_string(bytes); }

}  // namespace

Response whole(const std::string& content) { return {"HTTP/1.1 200 OK" + length_line(content.size()), content}; }

Response ranged(const std::string& content, const Request& request) {
  if (!request.range_first) {
    return whole(content);
  }
  const auto first = *request.range_first;
  if (first >= content.size()) {
    return status("416 Range Not Satisfiable");
  }
  const auto rest = content.substr(first);
  return {"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(first) + "-" +
              std::to_string(content.size() - 1) + "/" + std::to_string(content.size()) + length_line(rest.size()),
          rest};
}

Response status(const std::string& line) { return {"HTTP/1.1 " + line + length_line(0), ""}; }

Server::Server(Answer answer) : answer_(std::move(answer)) {
  std::tie(listener_, port_) = listen_on_loopback();
  thread_ = std::thread([this] { serve(); });
}

Server::~Server() {
  closing_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  for (const int connection : standing_) {
    ::close(connection);
  }
}

std::vector<Request> Server::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void Server::serve() {
  while (!closing_) {
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection >= 0) {
      answer_one(connection);
    }
  }
}

void Server::answer_one(int connection) {
  const auto request = parse(read_head(connection));
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  const auto response = answer_(request);
  send_all(connection, response.head + "\r\nConnection: close\r\n\r\n" + response.body);
  if (response.stands_still) {
    standing_.push_back(connection);
  } else {
    ::close(connection);
  }
}

std::string dead_url() {
  const auto [fd, port] = listen_on_loopback();
  ::close(fd);
  return "http://127.0.0.1:" + std::to_string(port);
}

}  // namespace ballast::testing
