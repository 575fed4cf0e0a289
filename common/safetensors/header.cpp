#include "common/safetensors/header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "common/text/text.h"

namespace ballast::safetensors {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kLongestReason = 200;  // the library's reasons quote what they read

struct Type {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<Type, 16> kTypes = {{{"BOOL", 1},
                                          {"U8", 1},
                                          {"I8", 1},
                                          {"F8_E5M2", 1},
                                          {"F8_E4M3", 1},
                                          {"I16", 2},
                                          {"U16", 2},
                                          {"F16", 2},
                                          {"BF16", 2},
                                          {"I32", 4},
                                          {"U32", 4},
                                          {"F32", 4},
                                          {"F64", 8},
                                          {"I64", 8},
                                          {"U64", 8},
                                          {"C64", 8}}};

// Thrown inside this file only.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string in_quotes(const std::string& name) {
  constexpr std::size_t kLongest = 80;
  return "'" + as_line(name, kLongest) + (name.size() > kLongest ? "...'" : "'");
}

std::uint64_t checked_elements(const std::vector<std::uint64_t>& shape) {
  if (shape.size() > kMaxDimensions) {
    throw Damage("its shape has " + std::to_string(shape.size()) + " dimensions, more than " +
                 std::to_string(kMaxDimensions));
  }
  std::uint64_t count = 1;
  for (const auto extent : shape) {
    if (extent != 0 && count > kMaxElements / extent) {
      throw Damage("its shape means more than 2^48 elements");
    }
    count *= extent;
  }
  return count;
}

// A tensor's description while it is read.
struct Description {
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

Tensor tensor_of(const std::string& name, Description& description, std::uint64_t data_bytes) {
  if (!description.dtype || !description.shape || !description.offsets) {
    throw Damage(std::string("has no '") +
                 (!description.dtype ? "dtype" : (!description.shape ? "shape" : "data_offsets")) + "'");
  }
  const auto& offsets = *description.offsets;
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw Damage("data_offsets is not [begin, end]");
  }
  if (offsets[1] > data_bytes) {
    throw Damage("ends at byte " + std::to_string(offsets[1]) + " of the data, of which there are " +
                 std::to_string(data_bytes) + ": the file is cut short or its header damaged");
  }
  const auto needed = checked_elements(*description.shape) * bytes_of(*description.dtype);
  if (bytes_of(*description.dtype) != 0 && offsets[1] - offsets[0] != needed) {
    throw Damage("takes " + std::to_string(offsets[1] - offsets[0]) + " bytes where its shape and type " +
                 *description.dtype + " need " + std::to_string(needed));
  }
  return {name, std::move(*description.dtype), std::move(*description.shape), offsets[0], offsets[1]};
}

// Takes the header from the JSON library piece by piece. A document is not built first: the library would keep the last
// of two equal keys without a word, and nest as deeply as the text says.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(std::uint64_t data_bytes) : data_bytes_(data_bytes) {}

  Header take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::begin) {
      place_ = Place::header;
    } else if (place_ == Place::header) {
      place_ = name_ == kMetadata ? Place::metadata : Place::tensor;
      description_ = {};
      members_.clear();
    } else {
      refuse("is nested deeper than a description may be");
    }
    return true;
  }

  bool key(Json::string_t& text) override {
    auto& known = place_ == Place::header ? names_ : members_;
    if (!known.insert(text).second) {
      throw Damage("the header says " + in_quotes(text) + " twice" +
                   (place_ == Place::header ? "" : " within " + in_quotes(name_)));
    }
    (place_ == Place::header ? name_ : member_) = text;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      try {
        header_.tensors.push_back(tensor_of(name_, description_, data_bytes_));
      } catch (const Damage& damage) {
        refuse(damage.what());
      }
    }
    place_ = Place::header;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || (member_ != "shape" && member_ != "data_offsets")) {
      refuse_value();
    }
    place_ = Place::list;
    (member_ == "shape" ? description_.shape : description_.offsets).emplace();
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::list) {
      refuse_value();
    }
    (member_ == "shape" ? description_.shape : description_.offsets)->push_back(value);
    return true;
  }

  bool string(Json::string_t& text) override {
    if (place_ == Place::metadata) {
      header_.metadata[member_] = text;
    } else if (place_ == Place::tensor && member_ == "dtype") {
      description_.dtype = text;
    } else {
      refuse_value();
    }
    return true;
  }

  bool null() override { return refuse_value(); }
  bool boolean(bool) override { return refuse_value(); }
  bool number_integer(std::int64_t) override { return refuse_value(); }
  bool number_float(double, const Json::string_t&) override { return refuse_value(); }
  bool binary(Json::binary_t&) override { return refuse_value(); }

  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    throw Damage("the header is no JSON: " + as_line(error.what(), kLongestReason));
  }

 private:
  enum class Place : std::uint8_t { begin, header, metadata, tensor, list };

  [[noreturn]] void refuse(const std::string& what) const { throw Damage("tensor " + in_quotes(name_) + ": " + what); }

  [[noreturn]] bool refuse_value() const {
    switch (place_) {
      case Place::metadata:
        throw Damage("__metadata__ holds something else than a text at " + in_quotes(member_));
      case Place::tensor:
        refuse(in_quotes(member_) + (member_ == "dtype" ? " is no text"
                                     : member_ == "shape" || member_ == "data_offsets"
                                         ? " is no list of numbers"
                                         : " is no part of a description"));
      case Place::list:
        refuse(in_quotes(member_) + " holds something else than whole numbers from 0 to 2^64 - 1");
      case Place::begin:
      case Place::header:
        break;
    }
    throw Damage(name_ == kMetadata ? "__metadata__ is no JSON object"
                                    : "tensor " + in_quotes(name_) + ": its description is no JSON object");
  }

  std::uint64_t data_bytes_;
  Header header_;
  Place place_ = Place::begin;
  std::string name_;    // the header's newest key
  std::string member_;  // the newest key within it
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> members_;
  Description description_;
};

void check_coverage(std::vector<Tensor>& tensors, std::uint64_t data_bytes) {
  std::ranges::stable_sort(tensors, {}, [](const Tensor& tensor) { return std::pair(tensor.begin, tensor.end); });
  std::uint64_t covered = 0;
  for (const auto& tensor : tensors) {
    if (tensor.begin != covered) {
      throw Damage("tensor " + in_quotes(tensor.name) + " begins at byte " + std::to_string(tensor.begin) +
                   " of the data, but those before it end at " + std::to_string(covered) +
                   (tensor.begin < covered ? ": they overlap" : ": there is a gap"));
    }
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    throw Damage("the tensors end at byte " + std::to_string(covered) + " of the data, of which there are " +
                 std::to_string(data_bytes));
  }
}

Header read_header(std::string_view text, std::uint64_t data_bytes) {
  if (text.size() > kMaxHeaderBytes) {
    throw Damage("the header has " + std::to_string(text.size()) + " bytes, more than " +
                 std::to_string(kMaxHeaderBytes));
  }
  if (text.empty() || text.front() != '{') {
    throw Damage("the header does not begin with '{'");
  }
  Builder builder(data_bytes);
  Json::sax_parse(text, &builder);
  auto header = builder.take();
  check_coverage(header.tensors, data_bytes);
  return header;
}

}  // namespace

const Tensor* Header::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

bool is_readable(std::string_view dtype) { return dtype == "F32" || dtype == "F16" || dtype == "BF16"; }

std::uint64_t bytes_of(std::string_view dtype) {
  const auto* const found = std::ranges::find(kTypes, dtype, &Type::name);
  return found == kTypes.end() ? 0 : found->bytes;
}

StoreResult<Header> parse_header(std::string_view text, std::uint64_t data_bytes) {
  try {
    return read_header(text, data_bytes);
  } catch (const Damage& damage) {
    return StoreStatus{StoreCode::corrupt, damage.what()};
  }
}

std::string header_text(const Header& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) {
    json[kMetadata] = header.metadata;
  }
  for (const auto& tensor : header.tensors) {
    json[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
  }
  auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((kSizeBytes - text.size() % kSizeBytes) % kSizeBytes, ' ');
  return text;
}

}  // namespace ballast::safetensors
