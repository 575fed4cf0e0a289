// The other end of a link that is measured (link_probe.h).
#pragma once

#include <memory>
#include <string>

namespace ballast {

class LinkServer {
 public:
  // Listens from now on. Throws UsageError for an address that cannot be listened on.
  explicit LinkServer(const std::string& address);
  ~LinkServer();
  LinkServer(const LinkServer&) = delete;
  LinkServer& operator=(const LinkServer&) = delete;

  // HOST:PORT, with the port filled in.
  [[nodiscard]] const std::string& address() const;
  // Serves one conversation after the other, each for 30 s at most, until `stop_fd` can be read or `seconds` are over.
  // What is open is cut then. Once.
  void serve(int stop_fd, double seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ballast
