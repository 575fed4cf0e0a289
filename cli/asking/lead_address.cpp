#include "cli/asking/lead_address.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "cli/asking/finished_run.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "common/command/usage_error.h"
#include "common/text/endpoint.h"
#include "common/text/shell_word.h"

namespace ballast {

namespace {

std::string written_in(const std::filesystem::path& folder) {
  std::error_code unknown;
  // Servers that were started by hand, as packaging/slurm does, have no lock.
  if (std::filesystem::exists(folder / "lock", unknown) && !has_living_run(folder)) {
    const auto word = shell_word(folder.string());
    const auto job = job_of_run(folder.string());
    if (job && finished_run(*job, folder.string())) {
      throw std::runtime_error("no process of the run in " + folder.string() +
                               " lives, and its job has finished; `ballast status " + word + "` tells its end");
    }
    throw std::runtime_error("no process of the run in " + folder.string() + " lives; `ballast inspect " + word +
                             "` tells what it holds, `ballast run --resume " + word +
                             "` goes on with a job that is not at its end");
  }
  std::ifstream in(folder / "lead.address");
  std::string address;
  if (!std::getline(in, address) || address.empty()) {
    if (was_never_started(folder)) {
      const auto word = shell_word(folder.string());
      throw std::runtime_error("the run in " + folder.string() + " has not been started; `ballast inspect " + word +
                               "` tells what it holds, `ballast run --resume " + word +
                               "` goes on with a job that is not at its end");
    }
    throw std::runtime_error(folder.string() +
                             " names no lead (no file lead.address): it is not the folder of a run, " +
                             "or the run has only just begun");
  }
  return address;
}

}  // namespace

std::string lead_address(const std::string& where) {
  if (std::filesystem::is_directory(where)) {
    return written_in(where);
  }
  if (where.find("://") == std::string::npos) {
    std::error_code unknown;
    throw UsageError("'" + where + "' is neither the folder of a run nor an address (tcp://HOST:PORT or ipc://PATH)" +
                     (std::filesystem::exists(where, unknown) ? "" : ": nothing of that name is here"));
  }
  if (const auto fault = endpoint_fault(where); !fault.empty()) {
    throw UsageError(fault);
  }
  return where;
}

}  // namespace ballast
