#include "cli/run_folder/settle.h"

#include <stdexcept>
#include <string>

#include "cli/run_folder/run_lock.h"
#include "storage/reshard/switch.h"

namespace ballast {

void settle_run_folder(const std::filesystem::path& folder) {
  if (!has_unfinished_switch(folder)) {
    return;
  }
  try {
    const RunLock lock(folder, RunLock::Use::reshard);  // of one that is at work, the end is waited for
    throw_unless_ok(finish_switch(folder));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(folder.string() +
                             ": a `ballast reshard` was cut short here, and comes to its end first, " +
                             "which could not be done: " + error.what());
  }
}

}  // namespace ballast
