// Examples without labels, of a user's own files, as a trained model is asked about them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/job/spec.h"
#include "worker/data/dataset.h"

namespace ballast {

// An example that was read or, with a fault, could not be.
struct StreamedExample {
  std::string source;      // as Dataset::source
  std::string fault = {};  // "byte 20: it is cut short", "column 3: ..."; empty if nothing is wrong
};

// Examples one after the other, front to back. Not thread-safe.
class ExampleStream {
 public:
  virtual ~ExampleStream() = default;
  // Writes the next example into the room, which is of the job's shape, but no labels or targets: of one with a fault,
  // anything. Nothing at the end. Throws std::runtime_error where examples cannot be told apart any more, as in a
  // damaged archive.
  virtual std::optional<StreamedExample> next(const ExampleRoom& room) = 0;
  // Files so far that were no examples.
  [[nodiscard]] virtual std::uint64_t passed_over() const { return 0; }
};

// Reads examples exactly as the job's data set reads its own: sizes, normalisation, columns, vocabulary.
//
// images (mnist, glyphs, idx, cifar10, images)   a PNG or JPEG file; a folder or a tar archive of such, nested as they
//                                                may be; of one channel also an idx file of images of the job's size
// text                                           a file, or a folder or a tar archive of files, each a message
// csv                                            a table, which may lack all columns but numbers and categories
// npy                                            an .npy file; of an .npz file the array data.test, else data.train
//
// Files of a folder stand in the order of their paths, hidden ones are passed over, and links are followed. Memory: one
// example, and a whole idx file. Of texts, `data_path` (else data.path) holds the vocabulary. `spec` must outlive the
// stream. Throws std::runtime_error naming the file and the remedy; for other data sets, too.
std::unique_ptr<ExampleStream> open_unlabelled(const DataSpec& spec, const std::string& data_path,
                                               const std::filesystem::path& input);

// Each of these for its kinds of data set.
std::unique_ptr<ExampleStream> stream_images(const DataSpec& spec, const std::filesystem::path& input);
std::unique_ptr<ExampleStream> stream_texts(const DataSpec& spec, const std::string& data_path,
                                            const std::filesystem::path& input);
std::unique_ptr<ExampleStream> stream_table(const DataSpec& spec, const std::filesystem::path& input);
std::unique_ptr<ExampleStream> stream_array(const DataSpec& spec, const std::filesystem::path& input);

}  // namespace ballast
