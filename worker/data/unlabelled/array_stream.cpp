// Rows of a user's own arrays.
#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "worker/data/arrays/array_faults.h"
#include "worker/data/arrays/npy_rows.h"
#include "worker/data/unlabelled/examples_stream.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

// The root and the name that arrays are read by.
struct NamedArray {
  fs::path root;
  std::string name;
};

NamedArray array_named(const DataSpec& spec, const fs::path& input) {
  std::error_code error;
  if (fs::is_directory(input, error)) {
    throw std::runtime_error(input.string() + ": is a folder; name the .npy file of the examples");
  }
  if (input.extension() == ".npz") {
    return {input, spec.test.empty() ? spec.train : spec.test};
  }
  return {input.has_parent_path() ? input.parent_path() : fs::path("."), input.filename().string()};
}

class ArrayStream : public ExampleStream {
 public:
  ArrayStream(const DataSpec& spec, const fs::path& input, const NamedArray& array)
      : source_(input.extension() == ".npz" ? array_source(array.root, array.name) : input.string()),
        scale_(spec.scale),
        rows_(array.root, array.name) {
    const auto& held = rows_.header().shape;
    if (held.empty() || !std::ranges::equal(std::span(held).subspan(1), spec.shape)) {
      throw std::runtime_error(source_ + " has shape " + shape_text(held) + ", but the job's examples have shape " +
                               shape_text({spec.shape.begin(), spec.shape.end()}) +
                               " (data.shape): the array needs one extent more in front, the number of examples");
    }
  }

  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    if (!rows_.next(values_)) {
      return std::nullopt;
    }
    std::ranges::transform(values_, room.features.begin(),
                           [&](double value) { return static_cast<float>(value * scale_); });
    return StreamedExample{source_ + "[" + std::to_string(row_++) + "]", feature_fault(values_, scale_)};
  }

 private:
  std::string source_;
  double scale_;
  NpyRows rows_;
  std::uint64_t row_ = 0;
  std::vector<double> values_;  // of one row
};

}  // namespace

std::unique_ptr<ExampleStream> stream_array(const DataSpec& spec, const fs::path& input) {
  return std::make_unique<ArrayStream>(spec, input, array_named(spec, input));
}

}  // namespace ballast
