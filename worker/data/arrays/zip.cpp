#include "worker/data/arrays/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "worker/data/failures.h"

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
constexpr std::size_t kZipBlock = std::size_t{1} << 20U;

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

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path) : path_(path) {
  errno = 0;
  stream_.open(path, std::ios::binary);
  std::error_code error(stream_ ? 0 : errno != 0 ? errno : EIO, std::generic_category());
  if (!error) {
    bytes_ = std::filesystem::file_size(path, error);
  }
  if (error) {
    throw_unread(path.string() + ": cannot be opened: " + error.message(), error);
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
    throw ReadFailure(path_.string() + ", byte " + std::to_string(offset) + ": reading failed; check the disk");
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
  ZipMemberReader reader(*this, member);
  std::string bytes;
  while (true) {
    const auto before = bytes.size();
    bytes.resize(before + kZipBlock);
    const auto got =
        reader.read(std::span(reinterpret_cast<std::uint8_t*>(bytes.data()) + before, bytes.size() - before));
    bytes.resize(before + got);
    if (got < kZipBlock) {
      return bytes;
    }
  }
}

// Ends when it goes away.
class ZipMemberReader::Inflater {
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

ZipMemberReader::ZipMemberReader(ZipFile& file, ZipMember member) : file_(file), member_(std::move(member)) {
  const auto header = file_.bytes_at(member_.offset, kLocalBytes);
  if (u32(header, 0) != kLocalMark) {
    file_.fail(member_.offset, "the header of member " + member_.name + " is damaged");
  }
  begin_ = member_.offset + kLocalBytes + u16(header, 26) + u16(header, 28);
  if (member_.method != 0 && member_.method != 8) {
    file_.fail(member_.offset, "member " + member_.name + " is packed by method " + std::to_string(member_.method) +
                                   "; stored and deflated ones are read");
  }
  if (member_.method == 0 && member_.packed != member_.size) {
    file_.fail(member_.offset, "the sizes of member " + member_.name + " differ, though it is stored");
  }
  if (member_.method != 0) {
    inflater_ = std::make_unique<Inflater>();
  }
}

ZipMemberReader::~ZipMemberReader() = default;

void ZipMemberReader::fail(const std::string& what) const {
  file_.fail(begin_ + taken_, "member " + member_.name + " " + what);
}

std::size_t ZipMemberReader::read(std::span<std::uint8_t> bytes) {
  std::size_t got = 0;
  while (got < bytes.size() && !ended_) {
    const auto rest = bytes.subspan(got);
    got += inflater_ ? inflate_some(rest) : copy_some(rest);
  }
  crc_ = static_cast<std::uint32_t>(crc32_z(crc_, bytes.data(), got));
  given_ += got;
  if (given_ > member_.size) {
    fail("is damaged");
  }
  if (got < bytes.size()) {
    check_end();
  }
  return got;
}

std::size_t ZipMemberReader::copy_some(std::span<std::uint8_t> bytes) {
  const auto count = std::min<std::uint64_t>({bytes.size(), member_.packed - taken_, kZipBlock});
  const auto part = file_.bytes_at(begin_ + taken_, count);
  std::ranges::copy(part, bytes.begin());
  taken_ += count;
  ended_ = taken_ == member_.packed;
  return part.size();
}

std::size_t ZipMemberReader::inflate_some(std::span<std::uint8_t> bytes) {
  auto& stream = inflater_->stream;
  if (stream.avail_in == 0 && taken_ < member_.packed) {
    packed_ = file_.bytes_at(begin_ + taken_, std::min<std::uint64_t>(kZipBlock, member_.packed - taken_));
    taken_ += packed_.size();
    stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream.avail_in = static_cast<uInt>(packed_.size());
  }
  const auto room = std::min(bytes.size(), kZipBlock);
  stream.next_out = bytes.data();
  stream.avail_out = static_cast<uInt>(room);
  const int outcome = inflate(&stream, Z_NO_FLUSH);
  const auto made = room - stream.avail_out;
  if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) {
    fail("is damaged");
  }
  ended_ = outcome == Z_STREAM_END;
  if (!ended_ && made == 0 && stream.avail_in == 0 && taken_ == member_.packed) {
    fail("is cut short");
  }
  return made;
}

void ZipMemberReader::check_end() const {
  if (given_ < member_.size) {
    fail("is cut short");
  }
  if (crc_ != member_.crc) {
    fail("is damaged: its checksum is wrong");
  }
}

}  // namespace ballast
