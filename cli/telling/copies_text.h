// What is said of copies of snapshots (durability.copy_to) while a job runs and when it is over.
#pragma once

#include <string>

#include "protocol/messages.h"

namespace ballast {

// "copying the snapshot of step 60: 3 of 8 shards have, the others have written 1.2 GB"; empty if none is being copied.
std::string copying_text(const CopyStatus& copies);

// Which snapshot is copied and which is being; empty if the job keeps no copies. Without a line's end.
std::string copies_text(const CopyStatus& copies);

}  // namespace ballast
