#include "cli/running/resume.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "cli/run_folder/own_databases.h"
#include "cli/run_folder/snapshot_parts.h"
#include "common/job/load.h"
#include "common/telling/amounts.h"
#include "common/text/shell_word.h"
#include "storage/journal/journal.h"
#include "storage/journal/journal_scan.h"
#include "storage/store/shard_store.h"

namespace ballast {

namespace fs = std::filesystem;

namespace {

void refuse_other_job(const std::string& what, const std::string& theirs, const std::string& ours,
                      const std::string& remedy) {
  throw std::runtime_error(what + ": a run that is resumed keeps what decides its bits, but " +
                           differing_keys(theirs, ours) + "; " + remedy);
}

void check_shards(const Job& job, const Job& before, const RunFolder& folder) {
  if (job.spec.cluster.shards != before.spec.cluster.shards) {
    throw std::runtime_error("the run in " + folder.path().string() + " has its weights in " +
                             count_text(before.spec.cluster.shards, "shard") + " and cannot be resumed with " +
                             std::to_string(job.spec.cluster.shards) +
                             "; workers and lanes may change. To change it, first: ballast reshard " +
                             shell_word(folder.shown()) + " --shards " + std::to_string(job.spec.cluster.shards));
  }
}

// The ledger lists snapshots: each of them needs every shard.
void check_databases(const RunFolder& folder, const Job& job, const Ledger& ledger) {
  if (ledger.timeline == 0) {
    return;
  }
  std::vector<fs::path> databases;
  for (std::uint32_t shard = 0; shard < job.spec.cluster.shards; ++shard) {
    check_there(databases.emplace_back(shard_database(folder.path(), shard)), shard);
  }
  check_snapshot_parts(databases, ledger);
}

Step newest_step(const Ledger& ledger) { return ledger.complete.empty() ? 0 : ledger.complete.back().step; }

// Shard 0's database is gone. Where others are there the run has begun, and its folder is of no use to a new one.
std::string way_without_ledger(const RunFolder& folder, const Job& job) {
  bool has_begun = false;
  for (std::uint32_t shard = 1; shard < job.spec.cluster.shards; ++shard) {
    has_begun = has_begun || holds_something(shard_database(folder.path(), shard));
  }
  if (!has_begun) {
    return "start the job with `ballast run JOB --run-dir " + shell_word(folder.path().string()) + "`";
  }
  const auto& durability = job.spec.durability;
  if (durability.copy_to.empty()) {
    return "put it back, or begin anew in another folder";
  }
  if (!durability.run.empty()) {
    return "put it back, or go on from the copies of the run " + durability.run + " in another folder: `ballast run " +
           shell_word(folder.job_file().string()) + " --run-dir NEW`";
  }
  const auto endpoint =
      durability.s3_endpoint.empty() ? std::string() : " --s3-endpoint " + shell_word(durability.s3_endpoint);
  const auto file = [](const char* option, const std::string& path) {
    return path.empty() ? std::string() : std::string(" ") + option + " " + shell_word(path);
  };
  const auto keys =
      file("--s3-credentials-file", durability.s3_credentials_file) + file("--copy-key-file", durability.copy_key_file);
  return "put it back, or build all databases anew from copies: `ballast restore " + shell_word(durability.copy_to) +
         endpoint + keys + " --run-dir NEW`";
}

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) {
    throw std::runtime_error("cannot read " + file.string());
  }
  return text;
}

bool has_journal(const fs::path& folder) {
  std::error_code none;
  const fs::directory_iterator files(folder, none);
  return !none && std::any_of(begin(files), end(files), [](const fs::directory_entry& file) {
    return parse_journal_segment_name(file.path().filename().string()) != 0;
  });
}

// What becomes of the updates after the snapshot.
std::string journals_text(const RunFolder& folder, const Job& job) {
  if (!is_journaled(job.spec)) {
    return "";
  }
  std::string missing;
  for (std::uint32_t shard = 0; shard < job.spec.cluster.shards; ++shard) {
    const auto journal = Journal::folder_in(shard_database(folder.path(), shard));
    if (!has_journal(journal)) {
      missing += (missing.empty() ? "" : ", ") + journal.string();
    }
  }
  return missing.empty() ? ", and from the journals of what came after it"
                         : "; what came after it is trained again, for there is no journal in " + missing +
                               " (if it was moved, stop the run now, put it back and resume)";
}

}  // namespace

Job job_to_resume(const RunFolder& folder, const std::vector<std::string>& overrides, const std::string& job_file) {
  const auto file = folder.job_file().string();
  const auto before = make_job(load_job(file));
  if (!job_file.empty()) {
    const auto named = make_job(load_job(job_file));
    if (named.spec_digest != before.spec_digest) {
      refuse_other_job(job_file + " is not the job of " + folder.path().string(), before.yaml, named.yaml,
                       "leave the job file out to resume what is there, or start it in another folder");
    }
  }
  auto job = make_job(load_effective_job(file, overrides, Fit::judged));
  if (job.spec_digest != before.spec_digest) {
    refuse_other_job("the job of " + folder.path().string() + " cannot be changed", before.yaml, job.yaml,
                     "leave that out, or start a run of its own");
  }
  check_shards(job, before, folder);
  return job;
}

std::string shards_without_end(const RunFolder& folder, const Job& job) {
  std::string names;
  for (std::uint32_t shard = 0; shard < job.spec.cluster.shards; ++shard) {
    const ShardStore store(value_or_throw(open_rocksdb(shard_database(folder.path(), shard), OpenMode::read_only)));
    if (!value_or_throw(store.finished())) {
      names += (names.empty() ? "shard " : ", shard ") + std::to_string(shard);
    }
  }
  return names;
}

Ledger ledger_to_resume(const RunFolder& folder, const Job& job) {
  const auto database = shard_database(folder.path(), 0);
  if (!holds_something(database)) {
    throw std::runtime_error("there is nothing to resume in " + folder.path().string() + ": it has no database " +
                             database.string() + "; " + way_without_ledger(folder, job));
  }
  const ShardStore store(value_or_throw(open_rocksdb(database, OpenMode::read_only)));
  check_identity(store, job);
  auto ledger = value_or_throw(store.read_ledger()).ledger;
  check_databases(folder, job, ledger);
  if (ledger.finished && shards_without_end(folder, job).empty()) {
    const auto shown = shell_word(folder.shown());
    throw std::runtime_error("the job in " + folder.path().string() + " has finished, at step " +
                             std::to_string(ledger.finished->step) +
                             ": there is nothing to resume; its weights are in " + "its databases (`ballast digest " +
                             shown + "`, `ballast export " + shown + " -o FILE.safetensors`)");
  }
  return ledger;
}

FormerJobFile::FormerJobFile(const RunFolder& folder) : text_(text_of_file(folder.job_file())) {}

bool FormerJobFile::put_back_unless_trained(const RunFolder& folder, const Ledger& ledger) const {
  const ShardStore store(value_or_throw(open_rocksdb(shard_database(folder.path(), 0), OpenMode::read_only)));
  const auto now = value_or_throw(store.read_ledger()).ledger;
  if (newest_step(now) > newest_step(ledger) || now.finished || text_of_file(folder.job_file()) == text_) {
    return false;
  }
  write_atomically(folder.job_file(), text_);
  return true;
}

std::string resume_text(const RunFolder& folder, const Job& job, const Ledger& ledger) {
  if (ledger.complete.empty()) {
    return "job " + job.spec.job + " had not begun: it starts";
  }
  if (ledger.finished) {
    return "job " + job.spec.job + " has finished, at step " + std::to_string(ledger.finished->step) +
           ": what lacks its end gets it";
  }
  const auto step = ledger.complete.back().step;
  return "job " + job.spec.job + " goes on from the snapshot of step " + std::to_string(step) + " of " +
         std::to_string(job.steps.steps) + ", epoch " + std::to_string(step / job.steps.steps_per_epoch) +
         journals_text(folder, job) + (ledger.pause == Pause::none ? "" : "; it was paused, which is over");
}

std::string what_is_left(const RunFolder& folder, const Job& job, Outlook outlook, const std::string& job_file) {
  const auto resume = "ballast run --resume " + shell_word(folder.shown());
  const auto anew = "ballast run " + (job_file.empty() ? "JOB" : shell_word(job_file)) + ", in another run folder";
  const auto go_on = outlook == Outlook::open ? "; go on with: " + resume
                     : outlook == Outlook::ends_again
                         ? "; a run that goes on from there would end like this one: see to what is told above"
                         : "; if the data become what they were, or lie elsewhere: " + resume +
                               " (--set data.path=DIR); with other data, or another data section, start anew: " + anew;
  try {
    const auto ledger = ledger_to_resume(folder, job);
    if (ledger.finished) {
      return "the job's end, at step " + std::to_string(ledger.finished->step) + ", is durable on shard 0" + go_on;
    }
    const bool trained = !ledger.complete.empty() && ledger.complete.back().step > 0;
    if (outlook == Outlook::bad_data && !trained) {
      return "nothing was trained; mend the data or the job file, try it with `ballast check --data`, then start "
             "anew: " +
             anew;
    }
    if (ledger.complete.empty()) {
      return "nothing was trained that could be durable" + go_on;
    }
    return "durable is the snapshot of step " + std::to_string(ledger.complete.back().step) + " of " +
           std::to_string(job.steps.steps) +
           (job.spec.durability.mode == "journal" ? ", and in the journals what came after it" : "") + go_on;
  } catch (const std::exception& error) {
    return std::string("it cannot be resumed as it is: ") + error.what();
  }
}

}  // namespace ballast
