// Feeds arbitrary headers to the reader of safetensors files.
//
// The first byte is the size of the data, the rest the header. Beyond not crashing, what is read must keep the rules
// that readers build on, and be read again from what the writer makes of it.
#include <cstdint>
#include <string_view>

#include "common/safetensors/header.h"
#include "tests/fuzz/expect.h"

namespace ballast::fuzz {
namespace {

using safetensors::Header;

// No read of an element of any tensor leaves the data.
void expect_covered(const Header& header, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const auto& tensor : header.tensors) {
    expect(tensor.begin == covered && tensor.begin <= tensor.end, "tensors lie one after the other");
    const auto element = safetensors::bytes_of(tensor.dtype);
    expect(element == 0 || tensor.elements() * element == tensor.end - tensor.begin, "a tensor's size is its shape's");
    covered = tensor.end;
  }
  expect(covered == data_bytes, "the tensors cover the data");
}

}  // namespace
}  // namespace ballast::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ballast;
  if (size == 0) {
    return 0;
  }
  const std::uint64_t data_bytes = data[0];
  const auto header = safetensors::parse_header({reinterpret_cast<const char*>(data + 1), size - 1}, data_bytes);
  if (header.ok()) {
    fuzz::expect_covered(header.value(), data_bytes);
    const auto again = safetensors::parse_header(safetensors::header_text(header.value()), data_bytes);
    fuzz::expect(again.ok() && again.value() == header.value(), "what was read and written again reads the same");
  } else {
    fuzz::expect_line(header.status().text());
  }
  return 0;
}
