#include "tests/unit/worker/data/pictures.h"

#include <cstddef>
#include <cstdio>
// after the headers that it needs:
#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace ballast::testing {

Image picture(std::uint32_t channels, std::uint32_t height, std::uint32_t width, std::uint32_t seed) {
  Image image{channels, height, width, {}};
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t channel = 0; channel < channels; ++channel) {
        image.pixels.push_back(static_cast<std::uint8_t>(7 * x + 11 * y + 60 * channel + 31 * seed));
      }
    }
  }
  return image;
}

Bytes png(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = image.width;
  header.height = image.height;
  header.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&header, nullptr, &size, 0, image.pixels.data(), 0, nullptr);
  Bytes bytes(size);
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error("libpng writes no image");
  }
  bytes.resize(size);
  return bytes;
}

Bytes jpeg(const Image& image) {
  jpeg_compress_struct state{};
  jpeg_error_mgr errors{};
  state.err = jpeg_std_error(&errors);
  jpeg_create_compress(&state);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&state, &buffer, &size);
  state.image_width = image.width;
  state.image_height = image.height;
  state.input_components = static_cast<int>(image.channels);
  state.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&state);
  jpeg_set_quality(&state, 95, TRUE);
  jpeg_start_compress(&state, TRUE);
  auto pixels = image.pixels;
  while (state.next_scanline < state.image_height) {
    JSAMPROW row = pixels.data() + state.next_scanline * image.row_bytes();
    jpeg_write_scanlines(&state, &row, 1);
  }
  jpeg_finish_compress(&state);
  jpeg_destroy_compress(&state);
  Bytes bytes(buffer, buffer + size);
  std::free(buffer);  // NOLINT: libjpeg allocates with malloc
  return bytes;
}

Bytes tar_entry(const std::string& name, char type, const Bytes& content) {
  Bytes block(512);
  std::ranges::copy(name.substr(0, 100), block.begin());
  std::snprintf(reinterpret_cast<char*>(&block[100]), 8, "%07o", 0644U);
  std::snprintf(reinterpret_cast<char*>(&block[124]), 12, "%011zo", content.size());
  block[156] = static_cast<std::uint8_t>(type);
  std::ranges::copy(std::string("ustar"), block.begin() + 257);
  block[263] = block[264] = '0';
  unsigned int sum = 8 * ' ';
  for (const auto byte : block) {
    sum += byte;
  }
  std::snprintf(reinterpret_cast<char*>(&block[148]), 8, "%06o", sum);
  block[155] = ' ';
  block.insert(block.end(), content.begin(), content.end());
  block.resize((block.size() + 511) / 512 * 512);
  return block;
}

Bytes tar(const std::vector<std::pair<std::string, Bytes>>& files, bool end) {
  Bytes all;
  for (const auto& [name, content] : files) {
    const auto entry = tar_entry(name, '0', content);
    all.insert(all.end(), entry.begin(), entry.end());
  }
  all.resize(all.size() + (end ? 1024 : 0));
  return all;
}

}  // namespace ballast::testing
