// Sockets over each transport, and waiting that fails instead of hanging.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/net/clock.h"
#include "common/net/dealer.h"
#include "common/net/router.h"

namespace ballast {

inline constexpr const char* kTransports[] = {"ipc", "tcp"};

// Addresses of one transport to bind; ipc paths lie in a folder that goes away.
class Addresses {
 public:
  Addresses() {
    std::string name = (std::filesystem::temp_directory_path() / "ballast-net-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Addresses() { std::filesystem::remove_all(folder_); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  [[nodiscard]] std::string make(const std::string& transport) {
    return transport == "tcp" ? "tcp://127.0.0.1:*" : "ipc://" + path(std::to_string(next_++));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
  int next_ = 0;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.bytes().data()), frame.size()};
}

// Calls `attempt` until it returns something true; fails the test if it never does.
template <typename Attempt>
auto eventually(Attempt attempt) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (true) {
    if (auto outcome = attempt()) {
      return outcome;
    }
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, "nothing happened for 30 s");
    ::usleep(1000);
  }
}

inline Received receive_from(Socket& socket) {
  return std::move(*eventually([&socket] { return socket.receive(); }));
}

inline std::vector<Released> wait_for_releases(ReleaseQueue& queue, std::size_t count) {
  std::vector<Released> all;
  eventually([&] {
    for (const auto& released : queue.take()) {
      all.push_back(released);
    }
    return all.size() >= count;
  });
  return all;
}

}  // namespace ballast
