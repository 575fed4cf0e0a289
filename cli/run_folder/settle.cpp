#include "cli/run_folder/settle.h"

#include "cli/run_folder/run_lock.h"
#include "storage/reshard/switch.h"

namespace ballast {

void settle_run_folder(const std::filesystem::path& folder) {
  if (!has_unfinished_switch(folder)) {
    return;
  }
  const RunLock lock(folder, RunLock::Use::reshard);  // of one that is at work, the end is waited for
  throw_unless_ok(finish_switch(folder));
}

}  // namespace ballast
