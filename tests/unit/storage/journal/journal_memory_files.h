// A file system in memory that fails when told to, and knows what a power cut would leave.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/journal/journal_files.h"

namespace ballast {

enum class FileCall : std::uint8_t {
  create,
  open,
  rename,
  remove,
  list,
  sync_folder,
  write,
  read,
  sync,
  cut,
  push_out
};

// One folder: of a path, only the file's name is looked at. As Linux does it, a sync that fails leaves the pages
// readable and takes them for written: no later sync writes them.
class MemoryJournalFiles final : public JournalFiles {
 public:
  // Asked before each call: the error that it comes to, or 0. A write that fails has written half of its bytes.
  using Judge = std::function<FileError(FileCall call, const std::string& name)>;

  void set_judge(Judge judge) {
    const std::scoped_lock lock(mutex_);
    judge_ = std::move(judge);
  }

  // What the death of the process leaves: the files as they are, and what a power cut would still take from them.
  [[nodiscard]] std::unique_ptr<MemoryJournalFiles> copy() const {
    const std::scoped_lock lock(mutex_);
    auto image = std::make_unique<MemoryJournalFiles>();
    std::map<const Node*, std::shared_ptr<Node>> copies;
    const auto copied = [&copies](const Names& names) {
      Names result;
      for (const auto& [name, node] : names) {
        auto& there = copies[node.get()];
        there = there ? there : std::make_shared<Node>(*node);
        result[name] = there;
      }
      return result;
    };
    image->folder_ = copied(folder_);
    for (const auto& past : past_) {
      image->past_.push_back(copied(past));
    }
    return image;
  }

  // What a power cut leaves: all that was synced, and of the rest what chance wants. Names change in their order,
  // pages in none.
  [[nodiscard]] std::unique_ptr<MemoryJournalFiles> cut_power(std::mt19937& random) const {
    const std::scoped_lock lock(mutex_);
    auto image = std::make_unique<MemoryJournalFiles>();
    const auto moment = random() % (past_.size() + 1);
    for (const auto& [name, node] : moment < past_.size() ? past_[moment] : folder_) {
      image->add(name, node->torn(random));
    }
    return image;
  }

  void add(const std::string& name, const std::string& content) {
    auto node = std::make_shared<Node>();
    node->content = node->durable = content;
    folder_[name] = std::move(node);
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    return folder_.at(name)->content;
  }
  // Bytes that are neither on the disk nor known to be missing, as after a failed sync whose pages were dropped.
  void forget_unsynced() {
    const std::scoped_lock lock(mutex_);
    for (auto& [name, node] : folder_) {
      const auto size = node->content.size();
      node->content = node->durable;
      node->content.resize(size);
    }
  }
  [[nodiscard]] std::vector<std::string> names() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, node] : folder_) {
      names.push_back(name);
    }
    return names;
  }

  FileError create(const std::filesystem::path& path, std::unique_ptr<JournalFile>& file) override {
    const std::scoped_lock lock(mutex_);
    const auto name = path.filename().string();
    if (const auto error = judge(FileCall::create, name); error != 0) {
      return error;
    }
    past_.push_back(folder_);
    folder_[name] = std::make_shared<Node>();
    file = std::make_unique<File>(*this, folder_[name], name);
    return 0;
  }
  FileError open(const std::filesystem::path& path, bool /*writable*/, std::unique_ptr<JournalFile>& file) override {
    const std::scoped_lock lock(mutex_);
    const auto name = path.filename().string();
    const auto found = folder_.find(name);
    if (found == folder_.end()) {
      return ENOENT;
    }
    file = std::make_unique<File>(*this, found->second, name);
    return judge(FileCall::open, name);
  }
  FileError rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    const std::scoped_lock lock(mutex_);
    if (const auto error = judge(FileCall::rename, to.filename().string()); error != 0) {
      return error;
    }
    past_.push_back(folder_);
    auto node = folder_.extract(from.filename().string());
    folder_[to.filename().string()] = std::move(node.mapped());
    return 0;
  }
  FileError remove(const std::filesystem::path& path) override {
    const std::scoped_lock lock(mutex_);
    const auto name = path.filename().string();
    if (const auto error = judge(FileCall::remove, name); error != 0) {
      return error;
    }
    if (folder_.count(name) == 0) {
      return ENOENT;
    }
    past_.push_back(folder_);
    folder_.erase(name);
    return 0;
  }
  FileError list(const std::filesystem::path& /*folder*/, std::vector<std::string>& names_found) override {
    names_found = names();
    return 0;
  }
  FileError make_folder(const std::filesystem::path& /*folder*/) override { return 0; }
  FileError lock(const std::filesystem::path& /*folder*/, std::unique_ptr<JournalLock>& /*held*/) override { return 0; }
  std::uint64_t free_bytes(const std::filesystem::path& /*folder*/) override { return free_; }
  void set_free(std::uint64_t bytes) { free_ = bytes; }
  FileError sync_folder(const std::filesystem::path& /*folder*/) override {
    const std::scoped_lock lock(mutex_);
    if (const auto error = judge(FileCall::sync_folder, {}); error != 0) {
      return error;
    }
    past_.clear();
    return 0;
  }

 private:
  static constexpr std::size_t kPage = 64;

  struct Node {
    std::string content;
    std::string durable;
    std::set<std::size_t> dirty;  // pages

    void write(std::size_t offset, const char* bytes, std::size_t size) {
      content.resize(std::max(content.size(), offset + size));
      std::copy_n(bytes, size, content.begin() + static_cast<std::ptrdiff_t>(offset));
      for (auto page = offset / kPage; size > 0 && page <= (offset + size - 1) / kPage; ++page) {
        dirty.insert(page);
      }
    }
    void cut(std::size_t size) {
      content.resize(size);
      dirty.erase(dirty.lower_bound((size + kPage - 1) / kPage), dirty.end());
    }
    static void copy_page(const std::string& from, std::size_t page, std::string& to) {
      for (auto at = page * kPage; at < std::min({(page + 1) * kPage, from.size(), to.size()}); ++at) {
        to[at] = from[at];
      }
    }
    void sync() {
      durable.resize(content.size());
      for (const auto page : dirty) {
        copy_page(content, page, durable);
      }
      dirty.clear();
    }
    [[nodiscard]] std::string torn(std::mt19937& random) const {
      auto left = durable;
      const auto least = std::min(durable.size(), content.size());
      left.resize(least + random() % (std::max(durable.size(), content.size()) - least + 1));
      for (const auto page : dirty) {
        if (random() % 2 == 0) {
          copy_page(content, page, left);
        }
      }
      return left;
    }
  };

  using Names = std::map<std::string, std::shared_ptr<Node>>;

  class File final : public JournalFile {
   public:
    File(MemoryJournalFiles& files, std::shared_ptr<Node> node, std::string name)
        : files_(files), node_(std::move(node)), name_(std::move(name)) {}

    FileError write(std::uint64_t offset, std::span<const iovec> parts) override {
      const std::scoped_lock lock(files_.mutex_);
      const auto error = files_.judge(FileCall::write, name_);
      for (std::size_t i = 0; i < (error == 0 ? parts.size() : parts.size() / 2); ++i) {
        node_->write(offset, static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
        offset += parts[i].iov_len;
      }
      return error;
    }
    FileError read(std::uint64_t offset, std::span<std::byte> into, std::size_t& count) override {
      const std::scoped_lock lock(files_.mutex_);
      const auto& content = node_->content;
      count = offset < content.size() ? std::min(into.size(), content.size() - offset) : 0;
      std::copy_n(
          std::as_bytes(std::span(content)).begin() + static_cast<std::ptrdiff_t>(offset - (count == 0 ? offset : 0)),
          count, into.begin());
      return files_.judge(FileCall::read, name_);
    }
    FileError size(std::uint64_t& bytes) override {
      const std::scoped_lock lock(files_.mutex_);
      bytes = node_->content.size();
      return 0;
    }
    FileError sync() override {
      const std::scoped_lock lock(files_.mutex_);
      const auto error = files_.judge(FileCall::sync, name_);
      if (error == 0) {
        node_->sync();
      } else {
        node_->dirty.clear();
      }
      return error;
    }
    FileError cut(std::uint64_t size) override {
      const std::scoped_lock lock(files_.mutex_);
      const auto error = files_.judge(FileCall::cut, name_);
      if (error == 0) {
        node_->cut(size);
      }
      return error;
    }
    void push_out(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override {
      const std::scoped_lock lock(files_.mutex_);
      files_.judge(FileCall::push_out, name_);  // whatever comes of it: nobody relies on that
    }

   private:
    MemoryJournalFiles& files_;
    std::shared_ptr<Node> node_;
    std::string name_;
  };

  FileError judge(FileCall call, const std::string& name) { return judge_ ? judge_(call, name) : 0; }

  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> free_ = std::uint64_t{1} << 40U;
  Judge judge_;
  Names folder_;
  std::vector<Names> past_;  // since the folder was synced
};

}  // namespace ballast
