#include "cli/telling/copies_text.h"

#include "common/telling/amounts.h"
#include "common/telling/run_text.h"

namespace ballast {

std::string copying_text(const CopyStatus& copies) {
  if (copies.copying == 0) {
    return {};
  }
  return "copying the snapshot of step " + std::to_string(copies.copying) + ": " + std::to_string(copies.shards) +
         " of " + std::to_string(copies.of) + " shards have, the others have written " + bytes_text(copies.bytes);
}

std::string copies_text(const CopyStatus& copies) {
  if (!copies.kept) {
    return {};
  }
  const auto copied = copies.copied == 0 ? "no complete copy yet"
                                         : "newest complete copy: step " + std::to_string(copies.copied) + " of run " +
                                               run_text(copies.run);
  const auto copying = copying_text(copies);
  return copied + (copying.empty() ? "" : "; " + copying);
}

}  // namespace ballast
