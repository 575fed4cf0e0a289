#include "worker/data/text/whole_text.h"

#include <span>
#include <stdexcept>

#include "worker/data/byte_source.h"

namespace ballast {

std::string read_whole_text(const std::filesystem::path& path, std::size_t most) {
  constexpr std::size_t kBlock = std::size_t{1} << 16U;
  ByteSource source(path);
  std::string bytes;
  while (true) {
    const auto before = bytes.size();
    bytes.resize(before + kBlock);
    const auto got = source.read(std::span(reinterpret_cast<std::uint8_t*>(bytes.data()) + before, kBlock));
    bytes.resize(before + got);
    if (bytes.size() > most) {
      throw std::runtime_error(path.string() + ": holds more than " + std::to_string(most) +
                               " bytes; cut it into smaller files");
    }
    if (got < kBlock) {
      return bytes;
    }
  }
}

}  // namespace ballast
