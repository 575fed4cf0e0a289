#include "worker/account.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

#include "common/numeric/sha256.h"

namespace ballast {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw std::runtime_error("BALLAST_WORKER_ACCOUNT: " + path + ": " + what);
}

}  // namespace

Account::Account(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) {
    refuse(path_, "cannot be opened: " + std::generic_category().message(errno));
  }
}

Account::~Account() { ::close(file_); }

std::unique_ptr<Account> Account::from_environment() {
  const char* path = std::getenv("BALLAST_WORKER_ACCOUNT");
  return path == nullptr || *path == '\0' ? nullptr : std::make_unique<Account>(path);
}

void Account::sent(const Push& push, std::span<const std::byte> payload) {
  write(fmt::format("sent {} {} {} {} {} {}\n", push.timeline, push.step, push.node.begin, push.node.end, push.chunk,
                    sha256_hex(payload)));
}

void Account::received(const Message& message) {
  if (const auto* receipt = std::get_if<Receipt>(&message)) {
    write(fmt::format("receipt {} {} {} {} {} {}\n", receipt->timeline, receipt->step, receipt->node.begin,
                      receipt->node.end, receipt->chunk, static_cast<unsigned>(receipt->outcome)));
  } else if (const auto* weights = std::get_if<Weights>(&message)) {
    write(fmt::format("weights {} {} {} {}\n", weights->timeline, weights->chunk, weights->version, weights->sequence));
  }
}

void Account::write(const std::string& line) {
  const auto written = ::write(file_, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    refuse(path_, written < 0 ? "cannot be written: " + std::generic_category().message(errno) : "a line is cut short");
  }
}

}  // namespace ballast
