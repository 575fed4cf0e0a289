#include "worker/data/unlabelled/examples_stream.h"

#include <stdexcept>

namespace ballast {

std::unique_ptr<ExampleStream> open_unlabelled(const DataSpec& spec, const std::string& data_path,
                                               const std::filesystem::path& input) {
  std::error_code error;
  if (!std::filesystem::exists(input, error)) {
    throw std::runtime_error(input.string() + ": there is no such file or folder" +
                             (error ? " (" + error.message() + ")" : ""));
  }
  if (spec.name == "text") {
    return stream_texts(spec, data_path, input);
  }
  if (spec.name == "csv") {
    return stream_table(spec, input);
  }
  if (spec.name == "npy") {
    return stream_array(spec, input);
  }
  if (spec.name == "trees" || spec.name == "characters" || spec.name == "none") {
    throw std::runtime_error(input.string() + ": the job's data set, " + spec.name +
                             ", has no examples without labels; name the file as data.test of a job file, with "
                             "data.test_examples, and give that job instead");
  }
  return stream_images(spec, input);
}

}  // namespace ballast
