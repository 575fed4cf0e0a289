#include "worker/data/arrays/zip.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace ballast {
namespace {

constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kMostComment = 65535;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kEntryMark = 0x02014b50;
constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::uint32_t kElsewhere = 0xFFFFFFFF;  // a number that stands in a zip64 record
constexpr std::size_t kUnpackedAtOnce = std::size_t{1} << 20U;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return value;
}
std::uint32_t u32(std::string_view bytes, std::size_t at) { return number_at(bytes, at, 4); }
std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number_at(bytes, at, 2));
}

// Ends when it goes away.
class Inflater {
 public:
  Inflater() {
    constexpr int kRawDeflate = -MAX_WBITS;
    if (inflateInit2(&stream, kRawDeflate) != Z_OK) {
      throw std::runtime_error("zlib could not be started (out of memory)");
    }
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path) : path_(path), stream_(path, std::ios::binary) {
  std::error_code error;
  bytes_ = std::filesystem::file_size(path, error);
  if (!stream_ || error) {
    throw std::runtime_error(path.string() + ": cannot be opened: " + (error ? error.message() : "no permission"));
  }
  read_directory();
}

void ZipFile::fail(std::uint64_t offset, const std::string& what) const {
  throw std::runtime_error(path_.string() + ", byte " + std::to_string(offset) + ": " + what +
                           "; fetch or write the file again");
}

std::string ZipFile::bytes_at(std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes_ || count > bytes_ - offset) {
    fail(offset, "the archive is cut short or damaged: " + std::to_string(count) + " bytes are not there");
  }
  std::string bytes(static_cast<std::size_t>(count), '\0');
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(bytes.data(), static_cast<std::streamsize>(count));
  if (static_cast<std::uint64_t>(stream_.gcount()) != count) {
    fail(offset, "reading failed");
  }
  return bytes;
}

void ZipFile::read_directory() {
  const auto held = std::min<std::uint64_t>(bytes_, kEndBytes + kMostComment);
  const auto tail = bytes_at(bytes_ - held, held);
  auto end = std::string::npos;
  for (std::size_t at = tail.size() < kEndBytes ? 0 : tail.size() - kEndBytes + 1; at-- > 0;) {
    if (u32(tail, at) == kEndMark) {
      end = at;
      break;
    }
  }
  if (end == std::string::npos) {
    fail(bytes_, "this is no .npz file: a zip archive's end mark is missing");
  }
  const auto size = u32(tail, end + 12);
  const auto offset = u32(tail, end + 16);
  if (offset == kElsewhere || size == kElsewhere || u16(tail, end + 10) == 0xFFFFU) {
    fail(bytes_ - held + end,
         "archives of 4 GiB or 65,535 members are not read; write arrays as .npy files of a folder");
  }
  const auto directory = bytes_at(offset, size);
  for (std::size_t at = 0; at < directory.size();) {
    if (directory.size() - at < kEntryBytes || u32(directory, at) != kEntryMark) {
      fail(offset + at, "the archive's directory is damaged");
    }
    const auto name = u16(directory, at + 28);
    const auto rest = std::size_t{name} + u16(directory, at + 30) + u16(directory, at + 32);
    if (directory.size() - at - kEntryBytes < rest) {
      fail(offset + at, "the archive's directory is damaged");
    }
    const ZipMember member{directory.substr(at + kEntryBytes, name),
                           u16(directory, at + 10),
                           u32(directory, at + 16),
                           u32(directory, at + 20),
                           u32(directory, at + 24),
                           u32(directory, at + 42)};
    const bool is_encrypted = (u16(directory, at + 8) & 1U) != 0;
    if (is_encrypted || member.packed == kElsewhere || member.size == kElsewhere || member.offset == kElsewhere) {
      fail(offset + at, "member " + member.name + (is_encrypted ? " is encrypted" : " is as large as 4 GiB") +
                            ", which is not read");
    }
    members_.push_back(member);
    at += kEntryBytes + rest;
  }
}

std::string ZipFile::read(const ZipMember& member) {
  const auto header = bytes_at(member.offset, kLocalBytes);
  if (u32(header, 0) != kLocalMark) {
    fail(member.offset, "the header of member " + member.name + " is damaged");
  }
  const auto begin = member.offset + kLocalBytes + u16(header, 26) + u16(header, 28);
  if (member.method != 0 && member.method != 8) {
    fail(member.offset, "member " + member.name + " is packed by method " + std::to_string(member.method) +
                            "; stored and deflated ones are read");
  }
  if (member.method == 0 && member.packed != member.size) {
    fail(member.offset, "the sizes of member " + member.name + " differ, though it is stored");
  }
  auto bytes = member.method == 0 ? bytes_at(begin, member.size) : inflated(member, begin);
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (crc != member.crc) {
    fail(begin, "member " + member.name + " is damaged: its checksum is wrong");
  }
  return bytes;
}

std::string ZipFile::inflated(const ZipMember& member, std::uint64_t begin) {
  Inflater inflater;
  std::string bytes;
  std::uint64_t taken = 0;
  int outcome = Z_OK;
  while (outcome != Z_STREAM_END && taken < member.packed) {
    auto packed = bytes_at(begin + taken, std::min<std::uint64_t>(kUnpackedAtOnce, member.packed - taken));
    taken += packed.size();
    inflater.stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    inflater.stream.avail_in = static_cast<uInt>(packed.size());
    do {
      const auto before = bytes.size();
      bytes.resize(
          std::min<std::size_t>(before + kUnpackedAtOnce, member.size + 1));  // one more shows that there is more
      inflater.stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + before);
      inflater.stream.avail_out = static_cast<uInt>(bytes.size() - before);
      outcome = inflate(&inflater.stream, Z_NO_FLUSH);
      bytes.resize(bytes.size() - inflater.stream.avail_out);
      if ((outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) || bytes.size() > member.size) {
        fail(begin + taken, "member " + member.name + " is damaged");
      }
    } while (outcome != Z_STREAM_END && inflater.stream.avail_out == 0);
  }
  if (outcome != Z_STREAM_END || bytes.size() != member.size) {
    fail(begin + taken, "member " + member.name + " is cut short");
  }
  return bytes;
}

}  // namespace ballast
