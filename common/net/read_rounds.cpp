#include "common/net/read_rounds.h"

namespace ballast {

void ReadRounds::read(const std::string& connection) {
  if (unread_ == 0 || (given_.size() >= kMostCounted && !given_.contains(connection))) {
    return;
  }
  if (++given_[connection] >= unread_ + kMore) {
    ++round_;
    given_.clear();
  }
}

void ReadRounds::found_empty() {
  round_ += kRounds;
  given_.clear();
}

}  // namespace ballast
