#include "server/shard_news.h"

namespace ballast {

std::optional<lane::Trouble> ShardNews::trouble(const std::string& text) {
  if (text == told_trouble_) {
    return std::nullopt;
  }
  told_trouble_ = text;
  return lane::Trouble{text};
}

std::optional<lane::Copying> ShardNews::copying(const CopyProgress& progress, Micros now) {
  auto grown = told_copy_;
  grown.bytes = progress.bytes;
  if (progress == told_copy_ || (progress == grown && now < next_copy_)) {
    return std::nullopt;
  }
  told_copy_ = progress;
  next_copy_ = now + kCopyEvery;
  return lane::Copying{progress};
}

}  // namespace ballast
