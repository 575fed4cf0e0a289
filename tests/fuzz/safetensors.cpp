// Feeds arbitrary headers to the reader of safetensors files. Run: safetensors-fuzz NEW_INPUTS corpus/safetensors
//
// The first byte is the size of the data, the rest the header. Beyond not crashing, what is read must keep the rules
// that readers build on, and be read again from what the writer makes of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/safetensors/header.h"

namespace {

using ballast::safetensors::Header;

void expect(bool holds) {
  if (!holds) {
    std::abort();
  }
}

// No read of an element of any tensor leaves the data.
void expect_covered(const Header& header, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const auto& tensor : header.tensors) {
    expect(tensor.begin == covered && tensor.begin <= tensor.end);
    const auto element = ballast::safetensors::bytes_of(tensor.dtype);
    expect(element == 0 || tensor.elements() * element == tensor.end - tensor.begin);
    covered = tensor.end;
  }
  expect(covered == data_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast::safetensors;
  if (size == 0) {
    return 0;
  }
  const std::uint64_t data_bytes = data[0];
  const auto header = parse_header({reinterpret_cast<const char*>(data + 1), size - 1}, data_bytes);
  if (header.ok()) {
    expect_covered(header.value(), data_bytes);
    const auto again = parse_header(header_text(header.value()), data_bytes);
    expect(again.ok() && again.value().metadata == header.value().metadata &&
           again.value().tensors.size() == header.value().tensors.size());
  }
  return 0;
}
