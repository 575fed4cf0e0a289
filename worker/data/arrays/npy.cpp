#include "worker/data/arrays/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "common/job/words.h"
#include "worker/data/arrays/zip.h"
#include "worker/data/text/whole_text.h"

static_assert(std::endian::native == std::endian::little, "the files' numbers are copied as they are");

namespace ballast {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = std::size_t{1} << 16U;
constexpr std::size_t kMostDimensions = 8;
constexpr std::array<std::string_view, 11> kTypes = {"f4", "f8", "u1", "i1", "b1", "u2", "i2", "u4", "i4", "u8", "i8"};

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error(what); }

[[noreturn]] void refuse_header(std::size_t length) {
  refuse("byte 8: the header's " + std::to_string(length) + " bytes are not there; the file is cut short or damaged");
}

// What follows 'KEY': in the dictionary, without blanks before it.
std::string_view after_key(std::string_view text, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const auto found = text.find(quote + std::string(key) + quote);
    if (found != std::string_view::npos) {
      auto rest = text.substr(found + key.size() + 2);
      rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
      return rest;
    }
  }
  refuse("its header does not say '" + std::string(key) + "'; write it with numpy.save");
}

std::string type_of(std::string_view text) {
  const auto quote = text.empty() ? '\0' : text[0];
  const auto end = text.find(quote, 1);
  if ((quote != '\'' && quote != '"') || end == std::string_view::npos) {
    refuse("its 'descr' is no type; structured arrays are not read: save one field");
  }
  const auto name = text.substr(1, end - 1);
  if (name.starts_with("|O") || name.starts_with("O")) {
    refuse("its values are Python objects ('|O'); save an array of numbers: its rows must be equally long");
  }
  const bool ordered = name.size() == 3 && (name[0] == '<' || name[0] == '|' || name[0] == '=');
  const auto type = ordered ? name.substr(1) : std::string_view();
  if (std::ranges::find(kTypes, type) == kTypes.end()) {
    refuse("its type is " + shown(std::string(name)) +
           "; little-endian float32, float64, bool and whole numbers of 1 to 8 bytes are read: use astype('<f4')");
  }
  return std::string(type);
}

std::vector<std::uint64_t> shape_of(std::string_view text) {
  std::vector<std::uint64_t> shape;
  const auto end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) {
    refuse("its 'shape' is no tuple; write it with numpy.save");
  }
  text = text.substr(1, end - 1);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) {
      return shape;
    }
    std::uint64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || shape.size() == kMostDimensions) {
      refuse("its 'shape' is no tuple of up to " + std::to_string(kMostDimensions) + " extents");
    }
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
}

template <typename Value>
double value_at(const char* bytes) {
  Value value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<double>(value);
}

std::string members_text(const ZipFile& file) {
  std::string text;
  for (const auto& member : file.members()) {
    text += (text.empty() ? "" : ", ") + member.name;
    if (text.size() > 1000) {
      return text + ", ...";
    }
  }
  return text.empty() ? "none" : text;
}

std::string bytes_of(const std::filesystem::path& root, const std::string& name, std::string& where) {
  std::error_code error;
  if (std::filesystem::is_directory(root, error)) {
    const auto path = array_file(root, name);
    where = path.string();
    return read_whole_text(path, kMaxArrayBytes + kMostHeader);
  }
  ZipFile file(root);
  const auto member = array_member(file, root, name);
  where = root.string() + ", member " + member.name;
  return file.read(member);
}

}  // namespace

std::filesystem::path array_file(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  for (const auto& ending : {"", ".npy"}) {
    auto path = folder / (name + ending);
    if (std::filesystem::exists(path, error)) {
      return path;
    }
  }
  refuse((folder / name).string() + "[.npy]: there is no such file; correct data.path or the array's name");
}

ZipMember array_member(const ZipFile& file, const std::filesystem::path& path, const std::string& name) {
  const auto found = std::ranges::find_if(
      file.members(), [&](const auto& member) { return member.name == name || member.name == name + ".npy"; });
  if (found == file.members().end()) {
    refuse(path.string() + " has no array " + shown(name) + "; it has " + members_text(file));
  }
  return *found;
}

NpyHeader parse_npy_header(std::string_view text) {
  NpyHeader header{type_of(after_key(text, "descr")), shape_of(after_key(text, "shape"))};
  if (!after_key(text, "fortran_order").starts_with("False")) {
    refuse("it is in Fortran order; write numpy.ascontiguousarray of it");
  }
  std::uint64_t bytes = header.bytes_each();
  for (const auto extent : header.shape) {
    if (extent != 0 && bytes > kMaxArrayBytes / extent) {
      refuse("it has more than " + std::to_string(kMaxArrayBytes) + " bytes (4 GiB); use a part of it");
    }
    bytes *= extent;
  }
  return header;
}

std::uint64_t NpyArray::size() const {
  std::uint64_t size = 1;
  for (const auto extent : header.shape) {
    size *= extent;
  }
  return size;
}

double NpyHeader::value(const char* from) const {
  const char kind = type[0];
  switch (bytes_each()) {
    case 1:
      return kind == 'i' ? value_at<std::int8_t>(from) : value_at<std::uint8_t>(from);
    case 2:
      return kind == 'i' ? value_at<std::int16_t>(from) : value_at<std::uint16_t>(from);
    case 4:
      return kind == 'f'   ? value_at<float>(from)
             : kind == 'i' ? value_at<std::int32_t>(from)
                           : value_at<std::uint32_t>(from);
    default:
      return kind == 'f'   ? value_at<double>(from)
             : kind == 'i' ? value_at<std::int64_t>(from)
                           : value_at<std::uint64_t>(from);
  }
}

double NpyArray::at(std::uint64_t index) const {
  return header.value(bytes.data() + begin + index * header.bytes_each());
}

NpyPrologue parse_npy_prologue(std::string_view bytes) {
  constexpr std::size_t kFixed = 10;  // magic, version, a length of two bytes
  if (bytes.size() < kFixed || !bytes.starts_with(kNpyMagic)) {
    refuse("byte 0: this is no .npy file; write it with numpy.save");
  }
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<std::uint8_t>(bytes[at])}; };
  const auto version = byte(kNpyMagic.size());
  const bool is_long = version > 1;
  if (version < 1 || version > 3 || bytes.size() < kNpyPrologueBytes) {
    refuse("byte 6: version " + std::to_string(version) + " of the format is not known; 1 to 3 are");
  }
  const auto length = byte(8) | byte(9) << 8U | (is_long ? byte(10) << 16U | byte(11) << 24U : 0);
  if (length > kMostHeader) {
    refuse_header(length);
  }
  return {is_long ? kFixed + 2 : kFixed, length};
}

NpyArray parse_npy(std::string bytes) {
  const auto prologue = parse_npy_prologue(bytes);
  if (bytes.size() - prologue.begin < prologue.length) {
    refuse_header(prologue.length);
  }
  const auto header = std::string_view(bytes).substr(prologue.begin, prologue.length);
  NpyArray array{parse_npy_header(header), {}, prologue.begin + prologue.length};
  const auto needed = array.size() * array.header.bytes_each();
  if (bytes.size() - array.begin != needed) {
    refuse("byte " + std::to_string(array.begin) + ": " + std::to_string(bytes.size() - array.begin) +
           " bytes of values follow where the header's shape needs " + std::to_string(needed) +
           "; the file is cut short or damaged");
  }
  array.bytes = std::move(bytes);
  return array;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const auto extent : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  }
  return "(" + text + ")";
}

std::string array_source(const std::filesystem::path& root, const std::string& name) {
  std::error_code error;
  return std::filesystem::is_directory(root, error) ? array_file(root, name).string() : root.string() + ":" + name;
}

NpyArray read_array(const std::filesystem::path& root, const std::string& name) {
  std::string where;
  auto bytes = bytes_of(root, name, where);
  try {
    return parse_npy(std::move(bytes));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(where + ": " + error.what());
  }
}

}  // namespace ballast
