// Examples in arrays of features and labels.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/arrays/array_faults.h"
#include "worker/data/arrays/npy.h"
#include "worker/data/example_files.h"

namespace ballast {
namespace {

// The arrays stay as they are in memory; values become float when they are read.
class ArraySplit {
 public:
  ArraySplit() = default;
  // `source` is where the features lie.
  ArraySplit(const DataSpec& spec, NpyArray features, NpyArray labels, std::string source)
      : features_(std::move(features)),
        labels_(std::move(labels)),
        scale_(spec.scale),
        classes_(spec.target == "class"),
        source_(std::move(source)) {}

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(kept_.size()); }
  void read(std::uint32_t index, const ExampleRoom& room) const {
    const auto from = std::uint64_t{kept_[index]} * room.features.size();
    for (std::size_t i = 0; i < room.features.size(); ++i) {
      room.features[i] = static_cast<float>(features_.at(from + i) * scale_);
    }
    if (classes_) {
      room.labels[0] = label(index);
    }
    for (std::size_t i = 0; i < room.targets.size(); ++i) {
      room.targets[i] = static_cast<float>(labels_.at(std::uint64_t{kept_[index]} * room.targets.size() + i));
    }
  }
  [[nodiscard]] std::int32_t label(std::uint32_t index) const {
    return classes_ ? static_cast<std::int32_t>(labels_.at(kept_[index])) : -1;
  }
  [[nodiscard]] std::string source(std::uint32_t index) const {
    return source_ + "[" + std::to_string(kept_[index]) + "]";
  }
  void keep_first(std::uint32_t count) { kept_.resize(std::min<std::size_t>(kept_.size(), count)); }
  void keep(std::uint32_t row) { kept_.push_back(row); }
  void add_to(Sha256& digest) const {
    for (const auto* array : {&features_, &labels_}) {
      const auto row = array->count() == 0 ? 0 : array->size() / array->count() * array->header.bytes_each();
      digest.update(array->header.type + "\n");
      for (const auto index : kept_) {
        digest.update(std::as_bytes(std::span(array->bytes).subspan(array->begin + index * row, row)));
      }
    }
  }
  [[nodiscard]] const NpyArray& features() const { return features_; }
  [[nodiscard]] const NpyArray& labels() const { return labels_; }

 private:
  NpyArray features_;
  NpyArray labels_;
  double scale_ = 1;
  bool classes_ = true;
  std::string source_;
  std::vector<std::uint32_t> kept_;  // rows that are examples
};

class ArrayReader {
 public:
  ArrayReader(const DataSpec& spec, const std::string& worker_path)
      : spec_(spec), root_(example_root(spec, worker_path)) {}

  ArraySplit read(const std::string& features, const std::string& labels, std::uint32_t wanted, const char* key) {
    if (features.empty()) {
      return {};
    }
    ArraySplit split(spec_, read_array(root_, features), read_array(root_, labels), array_source(root_, features));
    const std::vector<std::uint64_t> shape(spec_.shape.begin(), spec_.shape.end());
    check_shape(features, split.features(), shape, "data.shape");
    const bool has_one = spec_.target == "class" || (spec_.outputs == 1 && split.labels().header.shape.size() == 1);
    check_shape(labels, split.labels(),
                has_one ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{spec_.outputs},
                "data.target and data.outputs");
    if (split.features().count() != split.labels().count()) {
      throw std::runtime_error(where(features) + " has " + std::to_string(split.features().count()) + " rows and " +
                               labels + " " + std::to_string(split.labels().count()) + "; they must be as many");
    }
    CorruptExamples corrupt(spec_);
    for (std::uint64_t row = 0; row < split.features().count(); ++row) {
      const auto fault = fault_of(split, row);
      if (fault.empty()) {
        split.keep(static_cast<std::uint32_t>(row));
      } else {
        corrupt.found(where(features) + ", row " + std::to_string(row) + ": " + fault);
      }
    }
    left_out_ += corrupt.check(where(features), split.count(), wanted, key);
    return split;
  }

  // Corrupt examples of all that was read.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  [[nodiscard]] std::string where(const std::string& name) const { return root_.string() + ": array " + name; }

  // Rows of `shape`: the first extent is the rows' number.
  void check_shape(const std::string& name, const NpyArray& array, const std::vector<std::uint64_t>& shape,
                   const char* keys) const {
    const auto& held = array.header.shape;
    if (held.empty() || held[0] > UINT32_MAX || !std::ranges::equal(std::span(held).subspan(1), shape)) {
      throw std::runtime_error(where(name) + " has shape " + shape_text(held) + ", but examples of shape " +
                               shape_text(shape) + " are needed behind the rows; correct the array, or " + keys);
    }
  }

  [[nodiscard]] std::string fault_of(const ArraySplit& split, std::uint64_t row) {
    const auto take = [&](const NpyArray& array) {
      const auto size = array.size() / array.count();
      values_.clear();
      for (std::uint64_t i = row * size; i < (row + 1) * size; ++i) {
        values_.push_back(array.at(i));
      }
    };
    take(split.features());
    auto fault = feature_fault(values_, spec_.scale);
    if (fault.empty()) {
      take(split.labels());
      fault = label_fault(values_, spec_.target, spec_.outputs);
    }
    return fault;
  }

  const DataSpec& spec_;
  std::filesystem::path root_;
  std::vector<double> values_;  // of one row
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> open_arrays(const DataSpec& spec, const std::string& worker_path) {
  ArrayReader reader(spec, worker_path);
  auto train = reader.read(spec.train, spec.train_labels, spec.train_examples, "train_examples");
  auto test = reader.read(spec.test, spec.test_labels, spec.test_examples, "test_examples");
  return std::make_unique<SplitDataset<ArraySplit>>(spec, std::move(train), std::move(test), reader.left_out());
}

}  // namespace ballast
