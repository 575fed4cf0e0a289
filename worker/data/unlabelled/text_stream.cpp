// Messages of a user's own.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "worker/data/example_files.h"
#include "worker/data/text/message_tokens.h"
#include "worker/data/text/text_files.h"
#include "worker/data/unlabelled/examples_stream.h"
#include "worker/data/unlabelled/file_feed.h"

namespace ballast {
namespace {

Vocabulary vocabulary_of(const DataSpec& spec, const std::string& data_path) {
  try {
    return {vocabulary_path(example_root(spec, data_path), spec), spec.vocabulary};
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string(error.what()) +
                             "; the job's vocabulary is looked for there: name its folder or archive with --data, too");
  }
}

class TextStream : public ExampleStream {
 public:
  TextStream(const DataSpec& spec, const std::string& data_path, const std::filesystem::path& input)
      : spec_(spec), vocabulary_(vocabulary_of(spec, data_path)), feed_(feed_files(input, kMaxTextFile)) {}

  std::optional<StreamedExample> next(const ExampleRoom& room) override {
    auto file = feed_->next();
    if (!file) {
      return std::nullopt;
    }
    if (file->fault.empty()) {
      const auto tokens = message_tokens(std::move(file->bytes), spec_, vocabulary_);
      std::ranges::copy(tokens, room.tokens.begin());
      room.length[0] = static_cast<std::uint32_t>(tokens.size());
    }
    return StreamedExample{std::move(file->path), std::move(file->fault)};
  }

 private:
  const DataSpec& spec_;
  Vocabulary vocabulary_;
  std::unique_ptr<FileFeed> feed_;
};

}  // namespace

std::unique_ptr<ExampleStream> stream_texts(const DataSpec& spec, const std::string& data_path,
                                            const std::filesystem::path& input) {
  return std::make_unique<TextStream>(spec, data_path, input);
}

}  // namespace ballast
