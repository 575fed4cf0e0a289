#include "common/job/model_parameters.h"
#include "common/numeric/sha256.h"
#include "worker/data/datasets.h"

namespace ballast {
namespace {

class None : public Dataset {
 public:
  explicit None(const DataSpec& spec) : sizes_(whole_split_sizes(spec)), shape_(example_shape(spec)) {}
  [[nodiscard]] std::uint32_t size(DataSplit split) const override {
    return split == DataSplit::train ? sizes_.train : split == DataSplit::test ? sizes_.test : 0;
  }
  void read(DataSplit, std::uint32_t, const ExampleRoom& room) const override { room.labels[0] = 0; }
  [[nodiscard]] std::int32_t label(DataSplit, std::uint32_t) const override { return 0; }
  [[nodiscard]] const ExampleShape& shape() const override { return shape_; }
  [[nodiscard]] std::string digest() const override {
    return sha256_hex("none " + std::to_string(sizes_.train) + " " + std::to_string(sizes_.test));
  }

 private:
  SplitSizes sizes_;
  ExampleShape shape_;
};

}  // namespace

std::unique_ptr<Dataset> make_none(const DataSpec& spec) { return std::make_unique<None>(spec); }

}  // namespace ballast
