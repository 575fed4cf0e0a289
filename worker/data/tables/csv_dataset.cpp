// Tables: a row is an example, its columns become features and targets.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/example_files.h"
#include "worker/data/tables/table_rows.h"

namespace ballast {
namespace {

constexpr std::uint64_t kMostFloats = 1U << 30U;  // of a split: 4 GiB

class TableSplit {
 public:
  TableSplit() = default;
  explicit TableSplit(SourceLines lines) : lines_(std::move(lines)) {}

  [[nodiscard]] std::uint32_t count() const { return rows_; }
  void read(std::uint32_t index, const ExampleRoom& room) const {
    const auto copy = [&](const auto& values, auto to) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(index * to.size()), to.size(), to.begin());
    };
    copy(features_, room.features);
    copy(labels_, room.labels);
    copy(targets_, room.targets);
  }
  [[nodiscard]] std::int32_t label(std::uint32_t index) const { return labels_.empty() ? -1 : labels_[index]; }
  [[nodiscard]] std::string source(std::uint32_t index) const { return lines_.of(index); }
  void keep_first(std::uint32_t count) {
    const auto rows = std::min(rows_, count);
    const auto cut = [&](auto& values) { values.resize(rows_ == 0 ? 0 : values.size() / rows_ * rows); };
    cut(features_);
    cut(labels_);
    cut(targets_);
    rows_ = rows;
  }
  void add_to(Sha256& digest) const {
    digest.update(std::as_bytes(std::span(features_)))
        .update(std::as_bytes(std::span(labels_)))
        .update(std::as_bytes(std::span(targets_)));
  }

  void add(const TableRow& row, std::uint64_t line) {
    if (features_.size() + targets_.size() > kMostFloats) {
      throw std::runtime_error("a split's rows have more than " + std::to_string(kMostFloats) +
                               " features in all (4 GiB); use fewer rows or columns");
    }
    features_.insert(features_.end(), row.features.begin(), row.features.end());
    targets_.insert(targets_.end(), row.targets.begin(), row.targets.end());
    if (row.label) {
      labels_.push_back(*row.label);
    }
    lines_.add(line);
    ++rows_;
  }

 private:
  std::uint32_t rows_ = 0;
  std::vector<float> features_;
  std::vector<std::int32_t> labels_;
  std::vector<float> targets_;
  SourceLines lines_;
};

// Rows of a file to examples.
class TableReader {
 public:
  TableReader(const DataSpec& spec, DatasetUse use) : spec_(spec), use_(use) {}

  TableSplit read(const std::filesystem::path& path, std::uint32_t wanted, const char* key) {
    TableRows rows(spec_, path, TableRows::Columns::all);
    CorruptExamples corrupt(spec_);
    TableSplit split{SourceLines(path, use_)};
    for (bool more = true; more;) {
      try {
        const auto* const row = rows.next();
        more = row != nullptr;
        if (more) {
          split.add(*row, rows.line());
        }
      } catch (const BadRow& bad) {
        corrupt.found(rows.where() + ", column " + std::to_string(bad.column) + ": " + bad.what());
      }
    }
    left_out_ += corrupt.check(path, split.count(), wanted, key);
    return split;
  }

  // Corrupt examples of all that was read.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  const DataSpec& spec_;
  DatasetUse use_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> open_csv(const DataSpec& spec, const std::string& worker_path, DatasetUse use) {
  const auto root = example_root(spec, worker_path);
  TableReader reader(spec, use);
  auto train = reader.read(example_file(root, spec.train, "train"), spec.train_examples, "train_examples");
  auto test = spec.test.empty()
                  ? TableSplit()
                  : reader.read(example_file(root, spec.test, "test"), spec.test_examples, "test_examples");
  return std::make_unique<SplitDataset<TableSplit>>(spec, std::move(train), std::move(test), reader.left_out());
}

}  // namespace ballast
