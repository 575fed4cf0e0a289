// Pictures for tests: PNG, JPEG and tar bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/worker/data/files.h"
#include "worker/data/images/image.h"

namespace ballast::testing {

// Pixels that tell row, column and channel apart; `seed` gives another picture.
Image picture(std::uint32_t channels, std::uint32_t height, std::uint32_t width, std::uint32_t seed = 0);

Bytes png(const Image& image);
// As libjpeg makes it at quality 95.
Bytes jpeg(const Image& image);

// A ustar archive of these regular files; `end` says whether the two empty blocks stand at its end.
Bytes tar(const std::vector<std::pair<std::string, Bytes>>& files, bool end = true);
// One header block and its content, filled up to whole blocks.
Bytes tar_entry(const std::string& name, char type, const Bytes& content);

}  // namespace ballast::testing
