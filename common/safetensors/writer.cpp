#include "common/safetensors/writer.h"

#include <unistd.h>

#include <bit>
#include <utility>

namespace ballast::safetensors {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

StoreResult<Writer> Writer::create(const std::filesystem::path& path, const std::vector<Declared>& tensors,
                                   Metadata metadata) {
  Header header{{}, std::move(metadata)};
  std::uint64_t end = 0;
  for (const auto& declared : tensors) {
    Tensor tensor{declared.name, "F32", declared.shape, end, end};
    end += tensor.elements() * sizeof(float);
    tensor.end = end;
    header.tensors.push_back(std::move(tensor));
  }
  const auto text = header_text(header);
  Writer writer;
  writer.path_ = path;
  if (is_special(path)) {
    // The rename at the end would put a file in the place of a device, pipe or link (/dev/null, /dev/stdout).
    return StoreStatus{StoreCode::io,
                       path.string() + ": is a link or no regular file; name another, or one that is not there yet"};
  }
  writer.left_ = end;
  if (const auto refused =
          writer.file_.create(path, {.suffix = ".part-" + std::to_string(::getpid()), .synced = true})) {
    return writer.failure("cannot be made", refused);
  }
  const std::uint64_t size = text.size();
  auto status = writer.write(std::as_bytes(std::span(&size, 1)));
  if (status.ok()) {
    status = writer.write(std::as_bytes(std::span(text)));
  }
  if (!status.ok()) {
    return status;
  }
  return writer;
}

StoreStatus Writer::failure(const char* what, const std::error_code& reason) const {
  return {StoreCode::io, path_.string() + ": " + what + ": " + reason.message()};
}

StoreStatus Writer::write(std::span<const std::byte> bytes) {
  const auto refused = file_.append(bytes);
  return refused ? failure("cannot be written", refused) : StoreStatus{};
}

StoreStatus Writer::append(std::span<const std::byte> bytes) {
  if (bytes.size() > left_) {
    return {StoreCode::mismatch, path_.string() + ": more data than the tensors that were declared have"};
  }
  left_ -= bytes.size();
  return write(bytes);
}

StoreStatus Writer::finish() {
  if (left_ != 0) {
    return {StoreCode::mismatch, path_.string() + ": " + std::to_string(left_) + " bytes of data are missing"};
  }
  if (const auto refused = file_.finish()) {
    return failure("cannot be written", refused);
  }
  const auto unsynced = sync_folder(path_.parent_path());
  // A folder that may be written but not read, and file systems that cannot say so: the file is there.
  if (!unsynced || unsynced == std::errc::permission_denied || unsynced == std::errc::invalid_argument) {
    return {};
  }
  return failure("its folder cannot be written", unsynced);
}

}  // namespace ballast::safetensors
