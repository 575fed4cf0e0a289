#include "cli/resharding/reshard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/resharding/stopped_run.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/run_lock.h"
#include "cli/run_folder/settle.h"
#include "cli/telling/exit_codes.h"
#include "common/files/new_file.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/text/shell_word.h"
#include "storage/free_bytes.h"
#include "storage/reshard/build.h"
#include "storage/reshard/switch.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> overrides_of(const ReshardCommand& command) {
  return {"--shards cluster.shards=" + std::to_string(command.shards)};
}

// ---- what is there

// "steps 40 to 46"
std::string steps_text(Step from, Step last) {
  return from == last ? "step " + std::to_string(from)
                      : "steps " + std::to_string(from) + " to " + std::to_string(last);
}

// "its journals have updates of steps 20 to 26, ..."; empty: they have nothing that the newest snapshot lacks.
std::string beyond_snapshot(const StoppedRun& run, bool may_be_damaged) {
  try {
    const auto last = run.journaled_step();
    return last ? "its journals have updates of " + steps_text(run.snapshots().back().step, *last) +
                      ", which are not in the newest complete snapshot"
                : std::string();
  } catch (const std::runtime_error& error) {
    if (!may_be_damaged) {
      throw;
    }
    return std::string("what its journals have cannot be told (") + error.what() + ")";
  }
}

// Updates that are in journals alone are durable, and a run that is resumed has them: they go only if somebody says so.
void tell_journals(const StoppedRun& run, const ReshardCommand& command) {
  const auto beyond = beyond_snapshot(run, command.drop_updates);
  if (beyond.empty()) {
    return;
  }
  const auto what = run.folder().string() + ": " + beyond;
  const auto word = shell_word(command.run);
  const auto remedy =
      "let the job come to a snapshot first (`ballast run --resume " + word + "`, then `ballast stop " + word + "`)";
  if (command.output.empty() && !command.drop_updates) {
    throw std::runtime_error(what + " and would be lost; " + remedy + ", or drop them with --drop-updates");
  }
  const auto fate = command.output.empty() ? ": they are dropped"
                    : command.drop_updates ? ": the new run does not have them"
                                           : ": the new run does not have them; to have them, " + remedy;
  std::fprintf(stderr, "ballast: %s%s\n", what.c_str(), fate.c_str());
}

void check_room_to_build(const StoppedRun& run, const ReshardCommand& command, const fs::path& folder) {
  const auto needed = value_or_throw(bytes_to_build(run.reader(), run.snapshots(), command.shards));
  const auto free = free_bytes(folder);
  if (needed > free) {
    throw std::runtime_error(folder.string() + ": the new databases need up to " + bytes_text(needed) +
                             ", and its disk has " + bytes_text(free) + " free; make room" +
                             (command.output.empty() ? ", or use -o NEW on another disk" : ""));
  }
  std::printf("spreading %s (up to %s) over %s\n", count_text(run.snapshots().size(), "complete snapshot").c_str(),
              bytes_text(needed).c_str(), count_text(command.shards, "shard").c_str());
  std::fflush(stdout);
}

bool is_mount_point(const fs::path& path) {
  struct statx facts {};
  return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &facts) == 0 &&
         (facts.stx_attributes_mask & facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// Whatever could refuse to be moved later, when the change is decided.
void check_replaceable(const StoppedRun& run) {
  const std::string remedy = "; use -o NEW, which leaves it where it is";
  for (const auto& database : run.databases()) {
    if (fs::is_symlink(database)) {
      throw std::runtime_error(database.string() + " is a link, to " + fs::read_symlink(database).string() +
                               ", and cannot be replaced in place" + remedy);
    }
    if (is_mount_point(database)) {
      throw std::runtime_error(database.string() + " is a mount point, and cannot be replaced in place" + remedy);
    }
    if (::access(database.c_str(), W_OK | X_OK) != 0) {
      throw std::runtime_error(database.string() + " may not be written, and cannot be replaced in place" + remedy);
    }
  }
}

// ---- what is made

// The new databases of the run, whole and read back: the digest of the newest snapshot.
WeightsDigest build_and_compare(const StoppedRun& run, const ReshardTarget& target) {
  throw_unless_ok(build_databases(run.reader(), run.snapshots(), target));
  const auto built = value_or_throw(RunReader::open(target.databases, run.job().arena, run.job().layout_digest));
  std::optional<WeightsDigest> newest;
  for (const auto& snapshot : run.snapshots()) {
    newest = value_or_throw(compare_snapshot(run.reader(), built, snapshot));
  }
  return *newest;
}

// As the identities have it: what was said when the run began, which later commands may have changed in job.yaml.
std::string job_of_identity(const StoppedRun& run, const ReshardCommand& command) {
  const auto overrides = overrides_of(command);
  const auto label = run.databases().front().string() + " (its job)";
  return to_yaml(parse_job(run.reader().identity().effective_job, label, overrides));
}

// Durable, and as old as the one that it takes the place of: a reshard begins no run.
void write_job(const StoppedRun& run, const std::string& text, const fs::path& file) {
  if (const auto refused = write_whole(file, text, {.synced = true})) {
    throw std::runtime_error("cannot write " + file.string() + ": " + refused.message());
  }
  std::error_code ignored;
  fs::last_write_time(file, fs::last_write_time(run.job_file(), ignored), ignored);
}

void tell_end(const StoppedRun& run, const ReshardCommand& command, const std::string& folder,
              const WeightsDigest& newest, bool finished) {
  std::printf("resharded %s from %s to %u%s: %s, the newest of step %llu (weights sha256 %s)\n", command.run.c_str(),
              count_text(run.databases().size(), "shard").c_str(), command.shards,
              command.output.empty() ? "" : (" in " + folder).c_str(),
              count_text(run.snapshots().size(), "complete snapshot").c_str(), number(newest.snapshot.step),
              newest.weights.c_str());
  std::printf(finished ? "the job has finished; its weights: ballast export %s -o FILE.safetensors\n"
                       : "go on with: ballast run --resume %s\n",
              shell_word(folder).c_str());
}

// ---- in place

void check_writable(const fs::path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw std::runtime_error("the folder " + folder.string() +
                             " may not be written; use -o NEW, which only reads it, or mend its permissions");
  }
}

int reshard_in_place(const ReshardCommand& command) {
  check_writable(RunFolder::path_of_earlier_run(command.run));
  const auto folder = RunFolder::of_earlier_run(command.run, RunLock::Use::reshard);
  const auto overrides = overrides_of(command);
  const auto job_text = to_yaml(load_effective_job(folder.job_file().string(), overrides));
  StoppedRun run(folder.path());
  if (run.reader().shards() == command.shards) {
    std::printf("%s has %s already: there is nothing to do\n", command.run.c_str(),
                count_text(command.shards, "shard").c_str());
    return 0;
  }
  check_replaceable(run);
  tell_journals(run, command);
  check_room_to_build(run, command, folder.path());
  std::optional<WeightsDigest> newest;
  try {
    ReshardTarget target{{}, job_of_identity(run, command), CopiesOf::same_run};
    for (std::uint32_t shard = 0; shard < command.shards; ++shard) {
      target.databases.push_back(reshard_build_database(folder.path(), shard));
    }
    newest = build_and_compare(run, target);
    write_job(run, job_text, reshard_build_job(folder.path()));
  } catch (const std::exception&) {
    remove_reshard_remains(folder.path());
    throw;
  }
  const bool finished = run.reader().ledger().finished.has_value();
  run.close();
  throw_unless_ok(switch_databases(folder.path()));
  tell_end(run, command, folder.shown(), *newest, finished);
  return 0;
}

// ---- into a new folder

// Where the new run is built: beside the folder that it becomes, and within another one, so that nobody takes it for a
// run before it is one.
class NewRunFolder {
 public:
  NewRunFolder(const std::string& wanted, const fs::path& run)
      : path_(fs::absolute(wanted + "/.").lexically_normal().parent_path()), around_(path_.string() + ".resharding") {
    const auto inside = path_.lexically_relative(run).string();
    if (!inside.starts_with("..")) {
      throw std::runtime_error("-o " + wanted + " is inside the run's own folder " + run.string() +
                               "; choose another place");
    }
    check_free();
    std::error_code error;
    fs::create_directories(around_, error);
    if (error) {
      throw std::runtime_error("-o " + wanted + ": the folder " + around_.string() +
                               " cannot be made: " + error.message() + "; choose a place that may be written");
    }
    lock_.emplace(around_, RunLock::Use::reshard);
    check_free();  // another one may just have made it
    fs::remove_all(build());
    fs::create_directory(build());
  }
  ~NewRunFolder() {
    std::error_code ignored;
    fs::remove_all(around_, ignored);
  }
  NewRunFolder(const NewRunFolder&) = delete;
  NewRunFolder& operator=(const NewRunFolder&) = delete;

  [[nodiscard]] fs::path build() const { return around_ / "run"; }

  // All that was built, durably, under its name.
  void give_name() const {
    const auto refuse = [&](const std::error_code& error) {
      throw std::runtime_error(path_.string() + ": the new run cannot be made durable: " + error.message());
    };
    if (const auto error = sync_file_system(build())) {
      refuse(error);
    }
    fs::rename(build(), path_);
    if (const auto error = sync_folder(path_.parent_path())) {
      refuse(error);
    }
  }

 private:
  void check_free() const {
    if (fs::exists(path_) && !(fs::is_directory(path_) && fs::is_empty(path_))) {
      throw std::runtime_error("-o " + path_.string() + ": there is something already; choose a folder that is new");
    }
  }

  fs::path path_;
  fs::path around_;
  std::optional<RunLock> lock_;
};

int reshard_into(const ReshardCommand& command) {
  const auto path = RunFolder::path_of_earlier_run(command.run);
  settle_run_folder(path);
  const auto lock = RunLock::to_read(path);
  const auto overrides = overrides_of(command);
  const auto job_text = to_yaml(load_effective_job((path / "job.yaml").string(), overrides));
  const StoppedRun run(path);
  const NewRunFolder folder(command.output, path);
  tell_journals(run, command);
  check_room_to_build(run, command, folder.build());
  ReshardTarget target{{}, job_of_identity(run, command), CopiesOf::new_run};
  for (std::uint32_t shard = 0; shard < command.shards; ++shard) {
    target.databases.push_back(shard_database(folder.build(), shard));
  }
  const auto newest = build_and_compare(run, target);
  write_job(run, job_text, folder.build() / "job.yaml");
  mark_run_folder(folder.build());
  folder.give_name();
  tell_end(run, command, command.output, newest, run.reader().ledger().finished.has_value());
  return 0;
}

}  // namespace

int reshard(const ReshardCommand& command) {
  try {
    return command.output.empty() ? reshard_in_place(command) : reshard_into(command);
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kExitBadJob;
  }
}

}  // namespace ballast
