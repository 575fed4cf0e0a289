// s3_server.py in a process of its own, until its owner goes.
#pragma once

#include <string>
#include <vector>

#include "storage/copies/place.h"

namespace ballast::testing {

// Also sets the environment's keys, to those that the server takes.
class S3Server {
 public:
  explicit S3Server(std::vector<std::string> options = {});
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  [[nodiscard]] std::string endpoint() const { return "http://127.0.0.1:" + port_; }
  [[nodiscard]] CopyTarget target(const std::string& prefix = "/copies") const {
    return {"s3://models" + prefix, endpoint()};
  }

 private:
  int pid_ = -1;
  int input_ = -1;  // the server's; closing it ends the server
  std::string port_;
};

}  // namespace ballast::testing
