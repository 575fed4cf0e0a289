// `ballast restore`: a run's folder, built anew from copies of its snapshots (durability.copy_to).
#pragma once

#include <optional>
#include <string>

#include "protocol/ids.h"

namespace ballast {

struct RestoreCommand {
  std::string copies;               // a folder, or s3://BUCKET/PREFIX
  std::string s3_endpoint;          // of an s3:// place; empty: Amazon's
  std::string s3_credentials_file;  // its keys; empty: they are in the environment
  std::string copy_key_file;        // the keys by which copies are encrypted; empty: they are not
  bool accept_plain = false;        // copies that are not encrypted as well
  std::string run_dir;              // made; holds no run yet
  std::optional<Step> step;
  std::string run;    // as list shows it; empty: the only one
  bool list = false;  // only say what there is
};

// Builds the newest complete and undamaged copy, or that of the step, into the folder, from which `ballast run
// --resume` goes on; reads it all back first. Says which, and which newer ones could not be used. Returns the exit
// code. Throws std::runtime_error if nothing can be restored: the folder then has no databases.
int restore_run(const RestoreCommand& command);

}  // namespace ballast
