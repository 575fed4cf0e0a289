#include "worker/data/lines.h"

#include <span>
#include <stdexcept>

namespace ballast {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 16U;

}  // namespace

bool LineReader::refill() {
  if (ended_) {
    return false;
  }
  held_.erase(0, begin_);
  begin_ = 0;
  if (held_.size() > kMaxLine) {
    throw std::runtime_error(path_.string() + ", line " + std::to_string(number_ + 1) + ": is longer than " +
                             std::to_string(kMaxLine) + " bytes; is this a file of text?");
  }
  const auto before = held_.size();
  held_.resize(before + kReadAtOnce);
  const auto got =
      source_.read(std::span(reinterpret_cast<std::uint8_t*>(held_.data()) + before, kReadAtOnce));  // bytes are bytes
  held_.resize(before + got);
  ended_ = got < kReadAtOnce;
  return got > 0;
}

std::optional<std::string_view> LineReader::next() {
  auto end = held_.find('\n', begin_);
  while (end == std::string::npos) {
    const auto searched = held_.size() - begin_;
    if (!refill()) {
      break;
    }
    end = held_.find('\n', begin_ + searched);
  }
  if (end == std::string::npos && begin_ == held_.size()) {
    return std::nullopt;
  }
  const auto stop = end == std::string::npos ? held_.size() : end;
  auto line = std::string_view(held_).substr(begin_, stop - begin_);
  begin_ = end == std::string::npos ? stop : end + 1;
  ++number_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

}  // namespace ballast
