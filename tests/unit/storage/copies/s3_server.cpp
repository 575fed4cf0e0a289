#include "tests/unit/storage/copies/s3_server.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace ballast::testing {

S3Server::S3Server(std::vector<std::string> options) {
  const char* script = std::getenv("BALLAST_TEST_S3_SERVER");
  REQUIRE_MESSAGE(script != nullptr,
                  "BALLAST_TEST_S3_SERVER names tests/unit/storage/copies/s3_server.py; meson sets it");
  ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 1);
  int input[2];
  int output[2];
  REQUIRE(::pipe2(input, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(output, O_CLOEXEC) == 0);
  std::vector<std::string> words = {"python3", script, std::getenv("AWS_ACCESS_KEY_ID"),
                                    std::getenv("AWS_SECRET_ACCESS_KEY")};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (auto& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  char letter = 0;
  while (::read(output[0], &letter, 1) == 1 && letter != '\n') {
    port_.push_back(letter);
  }
  ::close(output[0]);
  REQUIRE_MESSAGE(!port_.empty(), "the S3 server did not start");
}

S3Server::~S3Server() {
  ::close(input_);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace ballast::testing
