#include "worker/data/cifar10.h"

#include <array>
#include <span>
#include <string>

#include "worker/data/byte_source.h"

namespace ballast {

void append_cifar10(const std::filesystem::path& path, std::uint32_t classes, PixelSplit& split) {
  ByteSource source(path);
  std::array<std::uint8_t, 1 + kCifarPixels> record;
  while (true) {
    const auto start = source.offset();
    const auto got = source.read(record);
    if (got == 0) {
      break;
    }
    if (got < record.size()) {
      source.fail(start, "the file ends after " + std::to_string(got) + " of a record's " +
                             std::to_string(record.size()) + " bytes" + kFetchAgain);
    }
    if (record[0] >= classes) {
      source.fail(start, "label " + std::to_string(record[0]) + " is not below the " + std::to_string(classes) +
                             " of data.classes; is this a file of CIFAR-10 records?");
    }
    if (split.count() == kMaxCifarRecords) {
      source.fail(start, "the split's files hold more than " + std::to_string(kMaxCifarRecords) +
                             " records, the most that are read");
    }
    split.labels.push_back(record[0]);
    split.pixels.insert(split.pixels.end(), record.begin() + 1, record.end());
  }
  if (source.offset() == 0) {
    source.fail(0, std::string("the file is empty") + kFetchAgain);
  }
}

}  // namespace ballast
