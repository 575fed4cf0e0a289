// The lead's view of copies: which snapshot the shards copy elsewhere, and how far they are.
#include "common/protocol/lead.h"

namespace ballast {

// Of all shards: what one that is away has copied is asked again when it is back.
std::vector<CopyPart> Lead::copy_parts() const {
  std::vector<CopyPart> parts;
  if (!config_.copies) {
    return parts;
  }
  for (std::uint32_t shard = 0; shard < config_.shards; ++shard) {
    const auto lane = shards_.lanes().find({shard, 0});
    parts.push_back(lane == shards_.lanes().end()
                        ? CopyPart{shard, {}, {}}
                        : CopyPart{shard, lane->second.report.copy, lane->second.report.trouble});
  }
  return parts;
}

// Copies are of the run, not of a timeline: what is complete stays so, whatever the job goes back to.
void Lead::observe_copies() {
  if (book_.current().complete.empty() || is_over()) {
    return;
  }
  auto ledger = book_.current();
  if (copies_.follow(ledger, copy_parts())) {
    book_.edit() = std::move(ledger);
  }
}

bool Lead::awaits_copy() const {
  return copies_.awaits(book_.durable(), book_.current().complete.back(), copy_parts());
}

}  // namespace ballast
