#include "cli/run_folder/own_databases.h"

#include <stdexcept>
#include <string>

#include "common/job/load.h"
#include "storage/store/layout_difference.h"

namespace ballast {

bool holds_something(const std::filesystem::path& database) {
  return std::filesystem::is_directory(database) && !std::filesystem::is_empty(database);
}

void check_there(const std::filesystem::path& database, std::uint32_t shard) {
  if (!holds_something(database)) {
    throw std::runtime_error("the database " + database.string() + " is gone, and with it shard " +
                             std::to_string(shard) +
                             "'s part of every snapshot; put it back, or build the folder anew from a copy with "
                             "`ballast restore`");
  }
}

void check_identity(const ShardStore& store, const Job& job) {
  const auto identity = value_or_throw(store.identity());
  Identity own;
  own.layout_digest = job.layout_digest;
  own.effective_job = job.yaml;
  if (identity && has_other_layout(*identity, own)) {
    throw std::runtime_error(store.path() + ": " + other_layout_text(identity->layout_digest, own.layout_digest));
  }
  if (identity && identity->spec_digest != job.spec_digest) {
    throw std::runtime_error("the database " + store.path() + " is of another job than the folder's job.yaml: " +
                             differing_keys(identity->effective_job, job.yaml) +
                             " (database against job.yaml); put the run's own job.yaml back");
  }
}

}  // namespace ballast
