#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "common/safetensors/reader.h"
#include "common/safetensors/widen.h"
#include "common/safetensors/writer.h"
#include "tests/unit/common/safetensors/support.h"

namespace ballast::safetensors {
namespace {

using testing::bytes_of_floats;
using testing::contains;
using testing::file_of;
using testing::write_whole;

// By the definition: (-1)^sign * 2^(exponent - 15) * (1 + fraction / 1024), without the 1 and with exponent 1 if it is
// 0.
double half_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = (bits & 1023) / 1024.0;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST_CASE("every half float widens to what it is") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = widen_f16(half);
    if (((half >> 10) & 31) != 31) {
      REQUIRE(static_cast<double>(wide) == half_by_definition(half));
    } else {
      REQUIRE(((half & 1023) == 0 ? std::isinf(wide) : std::isnan(wide)));
    }
    REQUIRE(std::signbit(wide) == ((half & 0x8000) != 0));
  }
}

TEST_CASE("every bfloat16 is the upper half of its float") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    REQUIRE(std::bit_cast<std::uint32_t>(widen_bf16(static_cast<std::uint16_t>(bits))) == bits << 16);
  }
  CHECK(widen_bf16(0x3FC0) == 1.5F);
}

std::vector<float> read_all(const Reader& reader, const std::string& name) {
  const auto* tensor = reader.header().find(name);
  REQUIRE(tensor != nullptr);
  std::vector<float> values(tensor->elements());
  const auto status = reader.read(*tensor, 0, values);
  REQUIRE_MESSAGE(status.ok(), status.text());
  return values;
}

TEST_CASE("a file is read in all three types, whole and in part") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "three.safetensors";
  write_whole(path, file_of(R"({"f":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                            R"("h":{"dtype":"F16","shape":[3],"data_offsets":[16,22]},)"
                            R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[22,24]},)"
                            R"("i":{"dtype":"I32","shape":[1],"data_offsets":[24,28]}})",
                            bytes_of_floats({1, -2, 0.1F, std::numeric_limits<float>::denorm_min()}) +
                                std::string("\x00\x3C\x01\x00\x00\xC0", 6) + std::string("\xC0\x3F", 2) +
                                std::string(4, '\1')));
  const auto reader = Reader::open(path);
  REQUIRE_MESSAGE(reader.ok(), reader.status().text());
  CHECK(read_all(reader.value(), "f") == std::vector<float>{1, -2, 0.1F, std::numeric_limits<float>::denorm_min()});
  CHECK(read_all(reader.value(), "h") == std::vector<float>{1, std::ldexp(1.0F, -24), -2});
  CHECK(read_all(reader.value(), "b") == std::vector<float>{1.5F});

  std::vector<float> part(2);
  CHECK(reader.value().read(*reader.value().header().find("h"), 1, part).ok());
  CHECK(part == std::vector<float>{std::ldexp(1.0F, -24), -2});
  CHECK(reader.value().read(*reader.value().header().find("h"), 2, part).code() == StoreCode::mismatch);
  const auto refused = reader.value().read(*reader.value().header().find("i"), 0, std::span(part).first(1));
  CHECK(refused.code() == StoreCode::mismatch);
  CHECK(contains(refused.text(), "'i' is of type I32"));
}

TEST_CASE("half floats beyond one block are all widened") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "long.safetensors";
  constexpr std::size_t kCount = 150'001;
  std::string data;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto bits = static_cast<std::uint16_t>(i % 0x7C00);  // no infinity, no NaN
    data.push_back(static_cast<char>(bits & 0xFFU));
    data.push_back(static_cast<char>(bits >> 8U));
  }
  write_whole(path, file_of(R"({"h":{"dtype":"F16","shape":[150001],"data_offsets":[0,300002]}})", data));
  const auto reader = Reader::open(path);
  REQUIRE_MESSAGE(reader.ok(), reader.status().text());
  const auto values = read_all(reader.value(), "h");
  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE(static_cast<double>(values[i]) == half_by_definition(static_cast<std::uint16_t>(i % 0x7C00)));
  }
}

TEST_CASE("what is written has the format's bytes, and is read again") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out.safetensors";
  {
    auto writer = Writer::create(path, {{"a", {2, 1}}, {"b", {}}}, {{"job", "sample"}});
    REQUIRE_MESSAGE(writer.ok(), writer.status().text());
    const auto data = bytes_of_floats({1, 2, 3});
    CHECK(writer.value().append(std::as_bytes(std::span(data)).first(5)).ok());
    CHECK(writer.value().append(std::as_bytes(std::span(data)).subspan(5)).ok());
    CHECK_FALSE(std::filesystem::exists(path));
    const auto finished = writer.value().finish();
    REQUIRE_MESSAGE(finished.ok(), finished.text());
  }
  std::string header = R"({"__metadata__":{"job":"sample"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[],"data_offsets":[8,12]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  CHECK(read_file(path) == file_of(header, bytes_of_floats({1, 2, 3})));
  const auto reader = Reader::open(path);
  REQUIRE(reader.ok());
  CHECK(read_all(reader.value(), "a") == std::vector<float>{1, 2});
  CHECK(read_all(reader.value(), "b") == std::vector<float>{3});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that is not finished never appears, and replaces nothing") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out.safetensors";
  write_whole(path, "precious");
  {
    auto writer = Writer::create(path, {{"a", {2}}}, {});
    REQUIRE(writer.ok());
    const auto data = bytes_of_floats({1});
    CHECK(writer.value().append(std::as_bytes(std::span(data))).ok());
    CHECK(contains(writer.value().finish().text(), "4 bytes of data are missing"));
    const auto more = bytes_of_floats({1, 2});
    CHECK(writer.value().append(std::as_bytes(std::span(more))).code() == StoreCode::mismatch);
  }
  CHECK(read_file(path) == "precious");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  const auto nowhere = Writer::create(folder.path() / "no" / "folder", {}, {});
  CHECK(nowhere.status().code() == StoreCode::io);
  CHECK(contains(nowhere.status().text(), "No such file"));
}

TEST_CASE("what is no file is refused at once") {
  const TemporaryFolder folder;
  CHECK(Reader::open(folder.path() / "none").status().code() == StoreCode::missing);
  CHECK(Reader::open(folder.path()).status().code() == StoreCode::mismatch);
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(Reader::open(pipe).status().text(), "is no file"));
}

TEST_CASE("headers that claim too much are refused before they are read") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  for (const std::string& content : {std::string(), std::string("1234567"), std::string(8, '\xFF') + "{}",
                                     std::string("\x03\0\0\0\0\0\0\0{}", 10)}) {
    CAPTURE(content);
    write_whole(path, content);
    const auto reader = Reader::open(path);
    REQUIRE_FALSE(reader.ok());
    CHECK(reader.status().code() == StoreCode::corrupt);
    CHECK(contains(reader.status().text(), path.string()));
  }
}

TEST_CASE("a file cut short at any byte is refused") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  const auto whole = file_of(R"({"f":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", bytes_of_floats({1, 2, 3}));
  write_whole(path, whole);
  REQUIRE(Reader::open(path).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_whole(path, whole.substr(0, size));
    CAPTURE(size);
    CHECK(Reader::open(path).status().code() == StoreCode::corrupt);
  }
  write_whole(path, whole + "x");
  CHECK(Reader::open(path).status().code() == StoreCode::corrupt);
}

TEST_CASE("a file that is cut short while it is open gives an error") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  write_whole(path, file_of(R"({"f":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", bytes_of_floats({1, 2, 3})));
  const auto reader = Reader::open(path);
  REQUIRE(reader.ok());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  std::vector<float> values(3);
  const auto status = reader.value().read(reader.value().header().tensors[0], 0, values);
  CHECK(status.code() == StoreCode::corrupt);
  CHECK(contains(status.text(), "cut it short"));
}

}  // namespace
}  // namespace ballast::safetensors
