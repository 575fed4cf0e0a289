// A model's weights from a safetensors file: what a job starts from, or what is evaluated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/arena/arena.h"
#include "common/files/status.h"
#include "common/safetensors/reader.h"

namespace ballast {

inline constexpr std::size_t kMaxDifferencesTold = 20;  // at once; more are counted

// What keeps a file from being the weights of a model: a parameter without its tensor, a tensor that is no parameter,
// another shape, a type that is not read. One sentence each, in the model's order, then the file's. Empty if it fits.
// `partial`: parameters may lack their tensors, but not all.
std::vector<std::string> differences(const safetensors::Header& header, const std::vector<Parameter>& parameters,
                                     bool partial = false);

// The parameters of one model, read chunk by chunk from a file that fits it; those that the file lacks are drawn.
// Thread-safe.
class InitialWeights {
 public:
  // The content of a chunk: its pieces of parameters in the arena's layout, padding and the statistics chunk zero.
  // Only this chunk's bytes are read. `mismatch` names the first element that is infinite or not a number: nothing can
  // be trained from it.
  [[nodiscard]] StoreResult<std::vector<float>> chunk(std::uint32_t id) const;

  // 32 hexadecimal digits over the values of all parameters, as they are decoded, in the model's order: files that give
  // a model the same weights have the same, whatever their own type and order. Reads the whole file, a piece at a time,
  // as long as `goes_on` says so; `io` if it does not.
  [[nodiscard]] StoreResult<std::string> digest(const std::function<bool()>& goes_on) const;

  [[nodiscard]] const std::string& path() const { return reader_.path(); }
  [[nodiscard]] const safetensors::Metadata& metadata() const { return reader_.header().metadata; }

 private:
  friend StoreResult<InitialWeights> load_initial(const std::filesystem::path& path, const Arena& arena,
                                                  std::optional<std::uint64_t> seed);
  InitialWeights(safetensors::Reader reader, const Arena& arena, std::uint64_t seed);

  // Elements [first, first + values.size()) of a parameter.
  [[nodiscard]] StoreStatus values_of(std::size_t parameter, std::uint64_t first, std::span<float> values) const;

  safetensors::Reader reader_;
  const Arena& arena_;
  std::vector<std::optional<std::size_t>> tensors_;  // by parameter: its position in the reader's header
  std::uint64_t seed_;                               // that the others are drawn from
};

// `arena` must outlive the result. With a seed, the file may lack parameters. A file that does not fit the model is a
// `mismatch` whose text tells all differences; other errors are those of Reader::open.
StoreResult<InitialWeights> load_initial(const std::filesystem::path& path, const Arena& arena,
                                         std::optional<std::uint64_t> seed = std::nullopt);

}  // namespace ballast
