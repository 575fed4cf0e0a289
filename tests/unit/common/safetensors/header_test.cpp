#include <doctest/doctest.h>

#include <random>

#include "common/safetensors/header.h"
#include "common/text/text.h"
#include "tests/unit/common/safetensors/support.h"

namespace ballast::safetensors {
namespace {

using testing::contains;

std::string refusal(const std::string& text, std::uint64_t data_bytes) {
  const auto header = parse_header(text, data_bytes);
  REQUIRE_FALSE(header.ok());
  CHECK(header.status().code() == StoreCode::corrupt);
  return header.status().text();
}

const std::string kTwo = R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},"__metadata__":{"step":"7"},)"
                         R"("a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}})";

TEST_CASE("a header is read, tensors in the order of their data") {
  const auto header = parse_header(kTwo + "   ", 12);
  REQUIRE(header.ok());
  CHECK(header.value().metadata == Metadata{{"step", "7"}});
  REQUIRE(header.value().tensors.size() == 2);
  CHECK(header.value().tensors[0] == Tensor{"a", "BF16", {1, 2}, 0, 4});
  CHECK(header.value().tensors[1] == Tensor{"b", "F32", {2}, 4, 12});
  CHECK(header.value().find("b") == &header.value().tensors[1]);
  CHECK(header.value().find("c") == nullptr);
}

TEST_CASE("no tensors, a single number, and no elements are tensors too") {
  CHECK(parse_header("{}", 0).ok());
  CHECK(parse_header(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4).ok());
  CHECK(parse_header(R"({"x":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]}})", 0).ok());
}

TEST_CASE("types that are not known are kept by name, whatever their size") {
  const auto header = parse_header(R"({"x":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}})", 4);
  REQUIRE(header.ok());
  CHECK(header.value().tensors[0].dtype == "F4");
  CHECK_FALSE(is_readable("F4"));
  CHECK_FALSE(is_readable("F64"));
  CHECK(is_readable("F16"));
}

TEST_CASE("what the format forbids is refused, naming the tensor and what is wrong") {
  struct Case {
    std::string text;
    std::uint64_t data_bytes;
    std::string part;
  };
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  const std::string f32 = R"("F32")";
  const std::vector<Case> cases = {
      {"", 0, "does not begin with '{'"},
      {" {}", 0, "does not begin with '{'"},
      {"[]", 0, "does not begin with '{'"},
      {"{", 0, "no JSON"},
      {"{}{}", 0, "no JSON"},
      {"{\"\xff\":1}", 0, "no JSON"},
      {R"({"w":3})", 0, "tensor 'w': its description is no JSON object"},
      {R"({"__metadata__":{"a":1}})", 0, "a text at 'a'"},
      {R"({"__metadata__":[]})", 0, "__metadata__ is no JSON object"},
      {R"({"w":{"shape":[],"data_offsets":[0,4]}})", 4, "tensor 'w': has no 'dtype'"},
      {R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4, "has no 'shape'"},
      {R"({"w":{"dtype":"F32","shape":[]}})", 4, "has no 'data_offsets'"},
      {tensor("4", "[]", "[0,4]"), 4, "'dtype' is no text"},
      {tensor(f32, "3", "[0,4]"), 4, "'shape' is no list of numbers"},
      {tensor(f32, "[-1]", "[0,4]"), 4, "whole numbers"},
      {tensor(f32, "[1.0]", "[0,4]"), 4, "whole numbers"},
      {tensor(f32, "[18446744073709551616]", "[0,4]"), 4, "whole numbers"},
      {tensor(f32, "[4294967296,4294967296]", "[0,4]"), 4, "more than 2^48 elements"},
      {tensor(f32, "[0,4294967296,4294967296,4294967296]", "[0,4]"), 4, "takes 4 bytes"},
      {tensor(f32, "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "17 dimensions"},
      {tensor(f32, "[1]", "[0]"), 4, "not [begin, end]"},
      {tensor(f32, "[1]", "[4,0]"), 4, "not [begin, end]"},
      {tensor(f32, "[2]", "[0,8]"), 4, "cut short"},
      {tensor(f32, "[2]", "[0,4]"), 4, "takes 4 bytes where its shape and type F32 need 8"},
      {tensor(f32, "[1]", "[4,8]"), 8, "there is a gap"},
      {tensor(f32, "[1]", "[0,4]"), 8, "of which there are 8"},
      {tensor(f32, "[[1]]", "[0,4]"), 4, "whole numbers"},
      {tensor(f32, R"({"a":1})", "[0,4]"), 4, "nested deeper"},
      {R"({"w":{"dtype":"F32","shape":[],"strides":[],"data_offsets":[0,4]}})", 4, "'strides' is no part"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, "says 'w' twice"},
      {R"({"w":{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4, "says 'dtype' twice"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[1],"data_offsets":[2,4]}})",
       4, "they overlap"},
  };
  for (const auto& wrong : cases) {
    CAPTURE(wrong.text);
    const auto refused = refusal(wrong.text, wrong.data_bytes);
    CAPTURE(refused);
    CHECK(contains(refused, wrong.part));
  }
}

TEST_CASE("a refusal quotes nothing that a terminal would obey") {
  CHECK(refusal(R"({"a\u001b[2J\n":3})", 0) == "tensor 'a [2J ': its description is no JSON object");
  for (const auto* text : {"{\"\xff\":1}", "{\"a\xC3\":1}", "{\x1b[2J"}) {
    CAPTURE(text);
    CHECK_FALSE(text_fault(refusal(text, 0), TextKind::line));
  }
}

TEST_CASE("depth, size and number of keys cannot exhaust anything") {
  CHECK(contains(refusal("{\"w\":" + std::string(1'000'000, '['), 0), "no JSON object"));
  CHECK(contains(refusal(R"({"w":{"shape":)" + std::string(1'000'000, '['), 0), "whole numbers"));
  CHECK(contains(refusal("{" + std::string(kMaxHeaderBytes, ' ') + "}", 0), "more than 16777216"));
  std::string many = "{";
  for (int i = 0; i < 100'000; ++i) {
    many += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  const auto header = parse_header(many + "}", 0);
  REQUIRE(header.ok());
  CHECK(header.value().tensors.size() == 100'000);
}

Header random_header(std::mt19937& random) {
  const auto below = [&](std::uint32_t bound) { return std::uint32_t(random() % bound); };
  Header header;
  std::uint64_t end = 0;
  const std::vector<std::string> types = {"F32", "F16", "BF16", "I64", "BOOL"};
  for (std::uint32_t i = below(6); i-- > 0;) {
    Tensor tensor;
    tensor.name = "t\"\\\n\xC3\xA4" + std::to_string(i);
    tensor.dtype = types[below(5)];
    for (std::uint32_t d = below(4); d-- > 0;) {
      tensor.shape.push_back(below(5));
    }
    tensor.begin = end;
    end += tensor.elements() * bytes_of(tensor.dtype);
    tensor.end = end;
    header.tensors.push_back(std::move(tensor));
  }
  for (std::uint32_t i = below(3); i-- > 0;) {
    header.metadata["key " + std::to_string(i)] = std::string(below(20), '"');
  }
  return header;
}

TEST_CASE("what is written is read again") {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const auto header = random_header(random);
    const auto text = header_text(header);
    CHECK(text.size() % 8 == 0);
    const auto again = parse_header(text, header.tensors.empty() ? 0 : header.tensors.back().end);
    REQUIRE(again.ok());
    CHECK(again.value().metadata == header.metadata);
    REQUIRE(again.value().tensors.size() == header.tensors.size());
    for (const auto& tensor : header.tensors) {
      REQUIRE(again.value().find(tensor.name) != nullptr);
      CHECK(*again.value().find(tensor.name) == tensor);
    }
  }
}

// Whatever is damaged: a refusal with a text, or a header that still keeps every rule of the format.
TEST_CASE("damaged headers are refused, or harmless") {
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto whole = random_header(random);
    const auto data_bytes = whole.tensors.empty() ? 0 : whole.tensors.back().end;
    auto text = header_text(whole);
    for (std::uint32_t hits = 1 + std::uint32_t(random() % 3); hits-- > 0;) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto header = parse_header(text, data_bytes);
    if (!header.ok()) {
      ++refused;
      CHECK_FALSE(header.status().text().empty());
      continue;
    }
    std::uint64_t covered = 0;
    for (const auto& tensor : header.value().tensors) {
      CHECK(tensor.begin == covered);
      covered = tensor.end;
    }
    CHECK(covered == data_bytes);
  }
  CHECK(refused > 10'000);
}

}  // namespace
}  // namespace ballast::safetensors
