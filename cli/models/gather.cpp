#include "cli/models/gather.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include "cli/models/closed_database.h"
#include "cli/models/opened_run.h"
#include "cli/run_folder/run_folder.h"
#include "cli/run_folder/settle.h"
#include "cli/run_folder/snapshot_parts.h"
#include "common/files/new_file.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/text/shell_word.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

struct Database {
  fs::path path;  // absolute
  Identity identity;
};

Database opened(const std::string& folder) {
  auto path = fs::absolute(folder).lexically_normal();
  if (!path.has_filename()) {
    path = path.parent_path();
  }
  settle_run_folder(path.parent_path());
  if (!fs::is_directory(path)) {
    throw std::runtime_error(path.string() + ": there is no such folder; name what the server had as --database");
  }
  const ShardStore store(value_or_throw(open_rocksdb(path, OpenMode::read_only)));
  auto identity = value_or_throw(store.identity());
  if (!identity) {
    throw std::runtime_error(path.string() + ": the database has no identity: it is not a shard's");
  }
  return {std::move(path), std::move(*identity)};
}

void check_same_job(const Database& first, const Database& other) {
  if (first.identity.spec_digest == other.identity.spec_digest &&
      first.identity.layout_digest == other.identity.layout_digest && first.identity.shards == other.identity.shards) {
    return;
  }
  throw std::runtime_error(other.path.string() + " is of another job than " + first.path.string() + ": " +
                           differing_keys(first.identity.effective_job, other.identity.effective_job) +
                           "; name the databases of one job");
}

// By shard; all of one job.
std::map<std::uint32_t, Database> all_shards(const std::vector<std::string>& folders) {
  std::map<std::uint32_t, Database> shards;
  for (const auto& folder : folders) {
    auto database = opened(folder);
    if (!shards.empty()) {
      check_same_job(shards.begin()->second, database);
    }
    const auto shard = database.identity.shard;
    const auto [place, added] = shards.emplace(shard, std::move(database));
    if (!added) {
      throw std::runtime_error(folder + " and " + place->second.path.string() + " are both of shard " +
                               std::to_string(shard) + "; name one of them");
    }
  }
  const auto& identity = shards.begin()->second.identity;
  for (std::uint32_t shard = 0; shard < identity.shards; ++shard) {
    if (!shards.contains(shard)) {
      throw std::runtime_error("the database of shard " + std::to_string(shard) + " is missing: job " + identity.job +
                               " has " + std::to_string(identity.shards) + " shards, and every snapshot is spread " +
                               "over all of them");
    }
  }
  return shards;
}

// A second server that was refused leaves a database of the same shard too, with nothing in it. Those that servers have
// open change meanwhile, and are for the lead to judge.
void check_parts(const std::map<std::uint32_t, Database>& shards) {
  std::vector<fs::path> databases;
  for (const auto& [shard, database] : shards) {
    if (is_open_elsewhere(database.path)) {
      return;
    }
    databases.push_back(database.path);
  }
  const ShardStore store(value_or_throw(open_rocksdb(databases.front(), OpenMode::read_only)));
  check_snapshot_parts(databases, value_or_throw(store.read_ledger()).ledger);
}

std::uintmax_t bytes_of_database(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  }
  return bytes;
}

void check_room(const std::map<std::uint32_t, Database>& shards, const fs::path& folder) {
  std::uintmax_t needed = 0;
  for (const auto& [shard, database] : shards) {
    needed += bytes_of_database(database.path);
  }
  const auto free = fs::space(folder).available;
  if (needed > free) {
    throw std::runtime_error(folder.string() + ": the databases have " + std::to_string(needed >> 20U) +
                             " MiB, and its disk has " + std::to_string(free >> 20U) +
                             " MiB free; make room, or use --link");
  }
}

ClosedDatabase closed_for_copy(const fs::path& database) {
  try {
    return ClosedDatabase(database);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string(error.what()) + ", or use --link to look at what is there now");
  }
}

// A copy that is cut short is none: it has its name only when it is whole.
void copy(const Database& database, const fs::path& to) {
  const auto closed = closed_for_copy(database.path);
  const fs::path partial = to.string() + ".partial";
  fs::remove_all(partial);
  fs::copy(database.path, partial, fs::copy_options::recursive);
  fs::rename(partial, to);
}

void fill(const std::map<std::uint32_t, Database>& shards, const RunFolder& folder, bool link) {
  if (!link) {
    check_room(shards, folder.path());
  }
  for (const auto& [shard, database] : shards) {
    const auto to = shard_database(folder.path(), shard);
    link ? fs::create_directory_symlink(database.path, to) : copy(database, to);
  }
  if (!link) {
    if (const auto error = sync_file_system(folder.path())) {
      throw std::runtime_error(folder.path().string() + ": the copies cannot be made durable: " + error.message());
    }
  }
  write_atomically(folder.job_file(), shards.at(0).identity.effective_job);
  mark_run_folder(folder.path());
}

// What was made of a folder that could not be filled.
void remove_parts(const std::map<std::uint32_t, Database>& shards, const RunFolder& folder) {
  std::error_code ignored;
  for (const auto& [shard, database] : shards) {
    const auto to = shard_database(folder.path(), shard);
    fs::remove_all(to, ignored);
    fs::remove_all(to.string() + ".partial", ignored);
  }
}

}  // namespace

int gather(const GatherCommand& command) {
  const auto shards = all_shards(command.databases);
  check_parts(shards);
  const RunFolder folder(command.run_dir, shards.at(0).identity.job);
  try {
    fill(shards, folder, command.link);
  } catch (const std::exception&) {
    remove_parts(shards, folder);
    throw;
  }
  const OpenedRun run(folder.path().string());
  std::printf("%s the databases of %s of job %s into %s\n", command.link ? "linked" : "copied",
              count_text(shards.size(), "shard").c_str(), shards.at(0).identity.job.c_str(), folder.shown().c_str());
  const auto shown = shell_word(folder.shown());
  if (run.reader().ledger().finished) {
    std::printf("the job has finished; its weights: ballast digest %s, ballast export %s -o FILE.safetensors\n",
                shown.c_str(), shown.c_str());
  } else {
    std::printf("it has not finished; go on with it here: ballast run --resume %s\n", shown.c_str());
  }
  return 0;
}

}  // namespace ballast
