// What a worker sent and was told, written down, so that tests can hold a journal against it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "protocol/messages.h"

namespace ballast {

// Lines at the end of a file, each written at once, so that several workers can share it and a death leaves whole
// lines:
//
//   sent TIMELINE STEP BEGIN END CHUNK SHA256      a contribution, before it is sent; each time
//   receipt TIMELINE STEP BEGIN END CHUNK OUTCOME  0 accepted, 1 duplicate, 2 expired
//   weights TIMELINE CHUNK VERSION SEQUENCE        as they came
//
// One thread. Every method throws std::runtime_error if the file cannot be written: an account with gaps proves
// nothing.
class Account {
 public:
  explicit Account(std::string path);
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  // To the file that the environment's BALLAST_WORKER_ACCOUNT names, which every process of a test inherits; null if it
  // names none.
  static std::unique_ptr<Account> from_environment();

  void sent(const Push& push, std::span<const std::byte> payload);
  // Other messages than receipts and weights leave no line.
  void received(const Message& message);

 private:
  void write(const std::string& line);

  std::string path_;
  int file_;
};

}  // namespace ballast
