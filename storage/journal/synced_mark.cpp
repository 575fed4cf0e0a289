#include "storage/journal/synced_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "common/files/new_file.h"
#include "storage/bytes.h"
#include "storage/checksum.h"

namespace ballast {
namespace {

constexpr std::string_view kMagic = "BLSY";
constexpr std::size_t kSlots = 2;
constexpr std::size_t kSlotBytes = 512;
constexpr std::size_t kUsedBytes = 4 + 4 + 8 + 8 + 8 + 8 + 4 + 4;
constexpr std::uint32_t kVersion = 1;
constexpr std::string_view kManifestPrefix = "MANIFEST-";

std::string encode_slot(const SyncedState& state) {
  ByteWriter content;
  content.raw(kMagic).number(kVersion).number(state.order).number(state.sequence);
  content.number(state.manifest).number(state.manifest_bytes).number(state.manifest_checksum);
  auto bytes = content.take();
  ByteWriter sum;
  sum.number(crc32c(bytes));
  return bytes + sum.take();
}

std::optional<SyncedState> decode_slot(std::string_view bytes) {
  ByteReader reader(bytes);
  const bool known = reader.raw(kMagic.size()) == kMagic && reader.number<std::uint32_t>() == kVersion;
  SyncedState state;
  state.order = reader.number<std::uint64_t>();
  state.sequence = reader.number<std::uint64_t>();
  state.manifest = reader.number<std::uint64_t>();
  state.manifest_bytes = reader.number<std::uint64_t>();
  state.manifest_checksum = reader.number<std::uint32_t>();
  const auto sum = reader.number<std::uint32_t>();
  const bool intact = reader.ok() && sum == crc32c(bytes.substr(0, kUsedBytes - sizeof(sum)));
  return known && intact ? std::optional(state) : std::nullopt;
}

// The version of a slot that another release wrote; none of a slot of ours, and of one that is damaged in this number
// alone.
std::optional<std::uint32_t> other_version(std::string_view bytes) {
  ByteReader reader(bytes);
  const bool is_slot = reader.raw(kMagic.size()) == kMagic;
  const auto version = reader.number<std::uint32_t>();
  if (!is_slot || !reader.ok() || version == kVersion) {
    return std::nullopt;
  }
  ByteWriter ours;
  ours.raw(kMagic).number(kVersion);
  return decode_slot(ours.take() + std::string(reader.rest())) ? std::nullopt : std::optional(version);
}

struct Found {
  SyncedState state;
  std::size_t slot = 0;
};

StoreStatus unreadable(const std::filesystem::path& file) {
  return {StoreCode::corrupt,
          file.string() + ": the mark of how far the database was synced is damaged; " + std::string(kDamageRemedy)};
}

StoreStatus of_other_version(const std::filesystem::path& file, std::uint32_t version) {
  return {StoreCode::mismatch, file.string() + ": the mark of how far the database was synced has version " +
                                   std::to_string(version) + ", and this program reads version " +
                                   std::to_string(kVersion) + ". Go on with the release that wrote it"};
}

// `mismatch` if either slot is of another version: the other one then tells of an earlier time.
StoreResult<Found> newest_slot(const std::filesystem::path& file, int descriptor) {
  std::optional<Found> newest;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    std::array<char, kUsedBytes> buffer{};
    const auto size = ::pread(descriptor, buffer.data(), buffer.size(), static_cast<off_t>(slot * kSlotBytes));
    const std::string_view bytes(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : std::size_t{0});
    if (const auto version = other_version(bytes)) {
      return of_other_version(file, *version);
    }
    const auto state = decode_slot(bytes);
    if (state && (!newest || state->order >= newest->state.order)) {
      newest = Found{*state, slot};
    }
  }
  return newest ? StoreResult<Found>(*newest) : unreadable(file);
}

// The number of the MANIFEST that CURRENT names; 0 if it names none, which RocksDB will say.
std::uint64_t current_manifest(const std::filesystem::path& folder) {
  std::ifstream in(folder / "CURRENT");
  std::string name;
  std::uint64_t number = 0;
  if (std::getline(in, name) && name.starts_with(kManifestPrefix)) {
    std::from_chars(name.data() + kManifestPrefix.size(), name.data() + name.size(), number);
  }
  return number;
}

std::filesystem::path manifest_file(const std::filesystem::path& folder, std::uint64_t number) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%06llu", static_cast<unsigned long long>(number));
  return folder / std::string(kManifestPrefix).append(digits.data());
}

// The first `limit` bytes, or fewer if there are fewer. A MANIFEST is at most little more than a MiB.
std::string read_beginning(const std::filesystem::path& file, std::uint64_t limit) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  bytes.resize(std::min<std::uint64_t>(bytes.size(), limit));
  return bytes;
}

bool sync_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return false;
  }
  const bool synced = ::fdatasync(descriptor) == 0;
  ::close(descriptor);
  return synced;
}

StoreStatus system_failure(const std::filesystem::path& file, const char* what, int reason = errno) {
  return {code_of(reason), file.string() + ": cannot " + what + ": " + std::strerror(reason)};
}

std::error_code make_mark(const std::filesystem::path& file) {
  auto content = encode_slot({});
  content.resize(kSlotBytes);
  content += content;
  return write_whole(file, content, {.mode = 0644, .synced = true});
}

}  // namespace

StoreResult<SyncedState> SyncedMark::read(const std::filesystem::path& folder) {
  const auto file = folder / kSyncedMarkFile;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return errno == ENOENT ? StoreResult<SyncedState>(SyncedState{}) : system_failure(file, "read");
  }
  const auto found = newest_slot(file, descriptor);
  ::close(descriptor);
  return found.ok() ? StoreResult<SyncedState>(found.value().state) : found.status();
}

StoreStatus SyncedMark::check_manifest(const std::filesystem::path& folder, const SyncedState& synced) {
  const auto number = current_manifest(folder);
  if (synced.manifest == 0 || number == 0 || number > synced.manifest) {
    return {};
  }
  const auto file = manifest_file(folder, synced.manifest);
  errno = 0;
  const auto bytes = read_beginning(file, synced.manifest_bytes);
  if (bytes.empty() && code_of(errno) == StoreCode::no_descriptor) {
    return system_failure(file, "read");
  }
  if (number == synced.manifest && bytes.size() == synced.manifest_bytes && crc32c(bytes) == synced.manifest_checksum) {
    return {};
  }
  if (current_manifest(folder) != number) {
    return {};  // its owner goes on while we read, and has begun another
  }
  return {StoreCode::corrupt, file.string() + ": the list of the database's files is damaged, cut short or not the " +
                                  "newest one; " + std::string(kDamageRemedy)};
}

StoreResult<std::unique_ptr<SyncedMark>> SyncedMark::open(const std::filesystem::path& folder) {
  const auto file = folder / kSyncedMarkFile;
  if (::access(file.c_str(), F_OK) != 0) {
    if (const auto refused = make_mark(file)) {
      return system_failure(file, "write", refused.value());
    }
  }
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    return system_failure(file, "open");
  }
  const auto found = newest_slot(file, descriptor);
  if (!found.ok()) {
    ::close(descriptor);
    return found.status();
  }
  return std::unique_ptr<SyncedMark>(new SyncedMark(folder, descriptor, found.value().state, found.value().slot));
}

SyncedMark::~SyncedMark() { ::close(descriptor_); }

void SyncedMark::raise(std::uint64_t sequence) {
  const std::scoped_lock lock(mutex_);
  if (sequence > state_.sequence) {
    auto state = state_;
    state.sequence = sequence;
    write(state);
  }
}

void SyncedMark::cover_manifest() {
  const std::scoped_lock lock(mutex_);
  const auto number = current_manifest(folder_);
  const auto file = manifest_file(folder_, number);
  const auto bytes = read_beginning(file, ~std::uint64_t{0});
  // It only grows; what was read may not be on the disk yet.
  if (number == 0 || bytes.empty() || !sync_file(file)) {
    return;
  }
  auto state = state_;
  state.manifest = number;
  state.manifest_bytes = bytes.size();
  state.manifest_checksum = crc32c(bytes);
  write(state);
}

void SyncedMark::write(SyncedState state) {
  ++state.order;
  const auto slot = (slot_ + 1) % kSlots;
  const auto bytes = encode_slot(state);
  if (::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(slot * kSlotBytes)) ==
          static_cast<ssize_t>(bytes.size()) &&
      ::fdatasync(descriptor_) == 0) {
    state_ = state;
    slot_ = slot;
  }
}

}  // namespace ballast
