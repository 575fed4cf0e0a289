// The encoded images of a split, as `ballast data describe` looks at them: each once or twice, and of a compressed
// archive, which workers hold in memory, one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/data/split_facts.h"
#include "common/job/spec.h"
#include "worker/data/image_files.h"
#include "worker/data/images/image.h"

namespace ballast {

// Not thread-safe. Throws std::runtime_error as ImageFiles does.
class DescribedImages {
 public:
  // Reads everything once. Memory: names.
  explicit DescribedImages(const std::filesystem::path& path);

  // Sorted by path.
  [[nodiscard]] const std::vector<ImageFile>& files() const { return opened_ ? opened_->files() : listed_; }
  // Bytes that a worker has to hold: the content of a compressed archive.
  [[nodiscard]] std::uint64_t held_by_workers() const { return held_; }
  // The first of the examples that can be decoded; nothing if none can.
  [[nodiscard]] std::optional<Image> first(const std::vector<ImageExample>& examples) const;
  // Decodes all examples as a worker does. Requires channels, height, width and classes of `spec`.
  [[nodiscard]] SplitFacts look_at(const DataSpec& spec, const std::vector<ImageExample>& examples) const;

 private:
  using Take = std::function<void(std::size_t file, std::span<const std::uint8_t> bytes)>;

  // Each file, by its index in files().
  void for_each(const Take& take) const;
  [[nodiscard]] std::string where(std::size_t file) const;

  std::filesystem::path path_;
  std::unique_ptr<ImageFiles> opened_;  // none of a compressed archive
  std::vector<ImageFile> listed_;       // of a compressed archive
  std::uint64_t held_ = 0;
};

}  // namespace ballast
