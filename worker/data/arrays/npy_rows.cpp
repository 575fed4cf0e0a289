#include "worker/data/arrays/npy_rows.h"

#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "worker/data/arrays/zip.h"
#include "worker/data/byte_source.h"
#include "worker/data/failures.h"

namespace ballast {
namespace {

// An archive and the reader of one of its members.
struct OpenMember {
  OpenMember(const std::filesystem::path& path, const std::string& name)
      : file(path), member(array_member(file, path, name)), reader(file, member) {}

  ZipFile file;
  ZipMember member;
  ZipMemberReader reader;
};

}  // namespace

NpyRows::NpyRows(const std::filesystem::path& root, const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_directory(root, error)) {
    const auto path = array_file(root, name);
    where_ = path.string();
    read_ = [source = std::make_shared<ByteSource>(path)](auto bytes) { return source->read(bytes); };
  } else {
    const auto member = std::make_shared<OpenMember>(root, name);
    where_ = root.string() + ", member " + member->member.name;
    read_ = [member](auto bytes) { return member->reader.read(bytes); };
  }
  try {
    read_header();
  } catch (const ReadFailure&) {
    throw;
  } catch (const std::runtime_error& fault) {
    const std::string text = fault.what();
    throw std::runtime_error(text.starts_with(root.string()) ? text : where_ + ": " + text);
  }
}

void NpyRows::refuse(const std::string& what) const { throw std::runtime_error(where_ + ": " + what); }

void NpyRows::read_header() {
  const auto read_text = [&](std::string& text, std::size_t size) {
    const auto before = text.size();
    text.resize(size);
    const auto room = std::span(reinterpret_cast<std::uint8_t*>(text.data()) + before, size - before);
    text.resize(before + read_(room));
  };
  std::string text;
  read_text(text, kNpyPrologueBytes);
  const auto prologue = parse_npy_prologue(text);
  const auto end = prologue.begin + prologue.length;
  read_text(text, std::max(end, text.size()));
  if (text.size() != end) {
    refuse("byte 8: the header's " + std::to_string(prologue.length) +
           " bytes are not there; the file is cut short or damaged");
  }
  header_ = parse_npy_header(std::string_view(text).substr(prologue.begin));
}

std::uint64_t NpyRows::row_size() const {
  std::uint64_t size = 1;
  for (std::size_t i = 1; i < header_.shape.size(); ++i) {
    size *= header_.shape[i];
  }
  return size;
}

bool NpyRows::next(std::vector<double>& row) {
  const bool ends = taken_ == header_.shape[0];
  const auto each = header_.bytes_each();
  bytes_.resize(static_cast<std::size_t>(ends ? 1 : row_size() * each));
  const auto got = read_(bytes_);
  if (got != (ends ? 0 : bytes_.size())) {
    refuse((ends ? "more bytes follow the " : "the file ends within row " + std::to_string(taken_) + " of the ") +
           std::to_string(header_.shape[0]) + " rows that its header tells of; the file is cut short or damaged");
  }
  if (ends) {
    return false;
  }
  row.resize(static_cast<std::size_t>(row_size()));
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = header_.value(reinterpret_cast<const char*>(bytes_.data()) + i * each);
  }
  ++taken_;
  return true;
}

}  // namespace ballast
