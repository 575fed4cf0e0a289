// What data sets of the user's own files have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/job/model_parameters.h"
#include "common/job/spec.h"
#include "common/numeric/sha256.h"
#include "worker/data/dataset.h"

namespace ballast {

// The worker's path, else the job's, else $BALLAST_DATA. Throws std::runtime_error if there is none, or nothing lies
// there: a path that is named is never passed over.
std::filesystem::path example_root(const DataSpec& spec, const std::string& worker_path);

// NAME within `root`, or else NAME.gz. Throws std::runtime_error, naming `key`, if there is neither.
std::filesystem::path example_file(const std::filesystem::path& root, const std::string& name, const std::string& key);

// data.vocabulary_file: within the root, or the folder that an archive lies in.
std::filesystem::path vocabulary_path(const std::filesystem::path& root, const DataSpec& spec);

// What becomes of examples that cannot be read (data.corrupt): they end it, the first ten at once, or they are logged,
// counted and left out. They are found while a set is opened, so every worker leaves out the same ones. Not
// thread-safe.
class CorruptExamples {
 public:
  explicit CorruptExamples(const DataSpec& spec) : skips_(spec.corrupt == "skip") {}

  // `text` names the place and what is wrong. Unless such are skipped, the tenth throws std::runtime_error naming all.
  void found(const std::string& text);
  // Once a split is read: throws std::runtime_error naming what was found, unless such are skipped; says how many were
  // left out and returns it, and throws if there are not as many good ones as the job counts on (`key` of it says so).
  std::uint64_t check(const std::filesystem::path& path, std::uint64_t good, std::uint32_t wanted, const char* key);

 private:
  [[noreturn]] void refuse(const std::string& others) const;

  bool skips_;
  std::uint64_t count_ = 0;  // since the last check
  std::string faults_;       // what was found, unless such are skipped
};

// Sequences of numbers one after the other.
class Sequences {
 public:
  void add(const std::vector<std::int32_t>& values);
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }
  [[nodiscard]] std::span<const std::int32_t> at(std::uint32_t index) const;
  void keep_first(std::uint32_t count);
  void add_to(Sha256& digest) const;

 private:
  std::vector<std::int32_t> values_;
  std::vector<std::uint64_t> ends_;
};

// The lines of a file that a split's examples stand on, as "rows.csv:3"; kept where they may be asked for.
class SourceLines {
 public:
  SourceLines() = default;
  SourceLines(const std::filesystem::path& path, DatasetUse use)
      : path_(path.string()), kept_(use == DatasetUse::asking) {}

  void add(std::uint64_t line) {
    if (kept_) {
      lines_.push_back(line);
    }
  }
  [[nodiscard]] std::string of(std::uint32_t index) const {
    return kept_ ? path_ + ":" + std::to_string(lines_.at(index)) : std::string();
  }

 private:
  std::string path_;
  bool kept_ = false;
  std::vector<std::uint64_t> lines_;
};

// A data set of a train and a test split in memory. Split: count(), read(index, room), label(index), source(index),
// keep_first(count) and add_to(digest). `corrupt` examples were left out of both.
template <class Split>
class SplitDataset : public Dataset {
 public:
  SplitDataset(const DataSpec& spec, Split train, Split test, std::uint64_t corrupt = 0)
      : shape_(example_shape(spec)), train_(std::move(train)), test_(std::move(test)), corrupt_(corrupt) {
    train_.keep_first(spec.train_examples);
    test_.keep_first(spec.test_examples);
    Sha256 digest;
    digest.update(spec.name + " " + std::to_string(train_.count()) + " " + std::to_string(test_.count()) + "\n");
    train_.add_to(digest);
    test_.add_to(digest);
    digest_ = digest.hex();
  }

  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::validation ? 0 : of(split).count();
  }
  void read(DataSplit split, std::uint32_t index, const ExampleRoom& room) const override {
    of(split).read(index, room);
  }
  [[nodiscard]] std::int32_t label(DataSplit split, std::uint32_t index) const override {
    return of(split).label(index);
  }
  [[nodiscard]] std::string source(DataSplit split, std::uint32_t index) const override {
    return of(split).source(index);
  }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override { return digest_; }
  [[nodiscard]] std::uint64_t corrupt() const override { return corrupt_; }

 private:
  [[nodiscard]] const Split& of(DataSplit split) const { return split == DataSplit::train ? train_ : test_; }

  ExampleShape shape_;
  Split train_;
  Split test_;
  std::uint64_t corrupt_;
  std::string digest_;
};

// Each reads its files wholly into memory, and throws std::runtime_error that names the file, the place in it, the
// value and the remedy. docs/data-text.md
std::unique_ptr<Dataset> open_text(const DataSpec& spec, const std::string& worker_path,
                                   DatasetUse use = DatasetUse::training);
std::unique_ptr<Dataset> open_characters(const DataSpec& spec, const std::string& worker_path);
std::unique_ptr<Dataset> open_trees(const DataSpec& spec, const std::string& worker_path,
                                    DatasetUse use = DatasetUse::training);
std::unique_ptr<Dataset> open_csv(const DataSpec& spec, const std::string& worker_path,
                                  DatasetUse use = DatasetUse::training);
std::unique_ptr<Dataset> open_arrays(const DataSpec& spec, const std::string& worker_path);

}  // namespace ballast
