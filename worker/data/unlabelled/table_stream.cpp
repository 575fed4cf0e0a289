// Rows of a user's own tables.
#include <algorithm>

#include "worker/data/tables/table_rows.h"
#include "worker/data/unlabelled/examples_stream.h"

namespace ballast {
namespace {

class TableStream : public ExampleStream {
 public:
  TableStream(const DataSpec& spec, const std::filesystem::path& input)
      : input_(input.string()), rows_(spec, input, TableRows::Columns::features) {}

  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    std::string fault;
    try {
      const auto* const row = rows_.next();
      if (row == nullptr) {
        return std::nullopt;
      }
      std::ranges::copy(row->features, room.features.begin());
    } catch (const BadRow& bad) {
      fault = "column " + std::to_string(bad.column) + ": " + bad.what();
    }
    return StreamedExample{input_ + ":" + std::to_string(rows_.line()), fault};
  }

 private:
  std::string input_;
  TableRows rows_;
};

}  // namespace

std::unique_ptr<ExampleStream> stream_table(const DataSpec& spec, const std::filesystem::path& input) {
  return std::make_unique<TableStream>(spec, input);
}

}  // namespace ballast
