#include "worker/data/example_files.h"

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/log/log.h"
#include "worker/data/datasets.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTold = 10;               // corrupt examples that are named; more are counted
constexpr std::size_t kMostText = 2000;           // bytes of their names, where they end it
constexpr std::uint64_t kMostValues = 1U << 30U;  // of all sequences of a split: 4 GiB

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;  // what can't be looked at (no permission) is for its reader to tell
}

}  // namespace

fs::path example_root(const DataSpec& spec, const std::string& worker_path) {
  const auto named = worker_path.empty() ? spec.path : worker_path;
  const fs::path root = named.empty() ? environment("BALLAST_DATA") : named;
  if (root.empty()) {
    throw std::runtime_error("data set " + spec.name +
                             ": no folder is named; set data.path, $BALLAST_DATA, or data_path in the worker's file");
  }
  if (!is_there(root)) {
    throw std::runtime_error(root.string() + ": there is no such file or folder; correct " +
                             (!worker_path.empty() ? "the worker's data path"
                              : !spec.path.empty() ? "data.path"
                                                   : "$BALLAST_DATA"));
  }
  return root;
}

fs::path example_file(const fs::path& root, const std::string& name, const std::string& key) {
  for (const char* ending : {"", ".gz"}) {
    if (const fs::path path = root / (name + ending); is_there(path)) {
      return path;
    }
  }
  throw std::runtime_error((root / name).string() + "[.gz]: there is no such file; correct data." + key +
                           " or data.path");
}

fs::path vocabulary_path(const fs::path& root, const DataSpec& spec) {
  std::error_code ignored;
  const auto folder = fs::is_directory(root, ignored) ? root : root.parent_path();
  return example_file(folder, spec.vocabulary_file, "vocabulary_file");
}

void CorruptExamples::found(const std::string& text) {
  ++count_;
  if (skips_) {
    if (count_ <= kTold) {
      log_warn("{}: left out", text);
    }
    return;
  }
  faults_ += (faults_.empty() ? "" : "; ") + text;
  if (count_ == kTold || faults_.size() > kMostText) {
    refuse(" and what else is corrupt behind them");
  }
}

void CorruptExamples::refuse(const std::string& others) const {
  const auto remedy = count_ == 1 && others.empty()
                          ? std::string("repair it, take it away")
                          : "repair these " + std::to_string(count_) + others + ", take them away";
  throw std::runtime_error(faults_ + "; " + remedy + ", or set data.corrupt: skip");
}

std::uint64_t CorruptExamples::check(const fs::path& path, std::uint64_t good, std::uint32_t wanted, const char* key) {
  if (!skips_ && count_ > 0) {
    refuse({});
  }
  if (count_ > 0) {
    log_warn("{}: {} examples were left out, {} are good", path.string(), count_, good);
  }
  if (good < wanted) {
    throw std::runtime_error(path.string() + " holds " + std::to_string(good) + " good examples where data." + key +
                             " counts on " + std::to_string(wanted) +
                             (count_ > 0 ? " (" + std::to_string(count_) + " were left out)" : "") + "; set data." +
                             key + " to " + std::to_string(good) + " or less, or name another path");
  }
  return std::exchange(count_, 0);
}

void Sequences::add(const std::vector<std::int32_t>& values) {
  if (values_.size() + values.size() > kMostValues) {
    throw std::runtime_error("a split's sequences have more than " + std::to_string(kMostValues) +
                             " values in all (4 GiB); lower data.steps or use fewer examples");
  }
  values_.insert(values_.end(), values.begin(), values.end());
  ends_.push_back(values_.size());
}

std::span<const std::int32_t> Sequences::at(std::uint32_t index) const {
  const auto begin = index == 0 ? 0 : ends_[index - 1];
  return std::span(values_).subspan(begin, ends_[index] - begin);
}

void Sequences::keep_first(std::uint32_t count) {
  ends_.resize(std::min<std::size_t>(ends_.size(), count));
  values_.resize(ends_.empty() ? 0 : ends_.back());
}

void Sequences::add_to(Sha256& digest) const {
  digest.update(std::as_bytes(std::span(values_))).update(std::as_bytes(std::span(ends_)));
}

}  // namespace ballast
