#include "cli/models/prediction_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace ballast {
namespace {

constexpr std::size_t kHeldText = 1U << 16U;  // bytes, before they are written

}  // namespace

PredictionOutput::PredictionOutput(const std::string& path) : path_(path) {
  if (!path.empty()) {
    // By the process: of two commands that write to one file, the one that ends last gives it its content, whole.
    check(file_.create(path, {.suffix = ".part-" + std::to_string(::getpid()), .through_special = true}),
          "cannot be made");
  }
}

void PredictionOutput::write(const std::string& text) {
  held_ += text;
  if (held_.size() >= kHeldText) {
    flush();
  }
}

void PredictionOutput::close() {
  flush();
  if (!path_.empty()) {
    check(file_.finish(), "cannot be written");
  } else if (std::fflush(stdout) != 0) {
    check(std::error_code(errno, std::generic_category()), "cannot be written");
  }
}

void PredictionOutput::flush() {
  const auto text = std::exchange(held_, {});
  if (!path_.empty()) {
    check(file_.append(text), "cannot be written");
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    check(std::error_code(errno, std::generic_category()), "cannot be written");
  }
}

void PredictionOutput::check(const std::error_code& refused, const char* what) const {
  if (refused) {
    throw std::runtime_error((path_.empty() ? "standard output" : path_) + " " + what + ": " + refused.message());
  }
}

}  // namespace ballast
