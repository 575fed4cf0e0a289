#include "cli/data/data_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "common/download/mirrors.h"
#include "common/numeric/sha256.h"
#include "common/text/shell_word.h"
#include "worker/data/byte_source.h"

namespace ballast {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = std::size_t{1} << 20U;
constexpr std::uint64_t kPackingMargin = 64 << 10U;  // gzip never makes a file larger by as much as this
constexpr auto kProgressEvery = std::chrono::milliseconds(100);

// What is wrong with the content; empty if it is right. Reads no further than a good file goes.
std::string content_problem(const fs::path& path, const DataFile& file) {
  try {
    ByteSource source(path);
    Sha256 digest;
    std::vector<std::uint8_t> block(kBlock);
    while (source.offset() <= file.bytes) {
      const auto got = source.read(block);
      digest.update(std::as_bytes(std::span(block).first(got)));
      if (got < block.size()) {
        break;
      }
    }
    if (source.offset() != file.bytes) {
      return std::string("it holds ") + (source.offset() > file.bytes ? "more than the " : "less than the ") +
             std::to_string(file.bytes) + " bytes of " + file.name;
    }
    return digest.hex() == file.sha256 ? ""
                                       : "its content is not that of " + file.name + " (SHA-256 " + digest.hex() + ")";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    const auto prefix = path.string() + ", ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;  // whoever shows it has named the file
  }
}

std::string packed(const DataFile& file) { return file.name + ".gz"; }

// Only one process at a time may put files into a folder.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A file system that knows no locks goes without.
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(fd_);
      throw std::runtime_error(folder.string() + ": another process is fetching files into this folder; wait for it");
    }
  }
  ~FolderLock() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw std::runtime_error(folder.string() + ": files cannot be put there: " +
                             (error ? error.message() : std::string(std::strerror(errno))) +
                             "; name another folder with --to");
  }
}

// Shows how far one file's download is, on a terminal only.
class ShownProgress {
 public:
  ShownProgress(const FetchOptions& options, std::string name) : options_(options), name_(std::move(name)) {}
  ~ShownProgress() {
    if (shown_) {
      std::fputs("\r\x1b[K", options_.out);
      std::fflush(options_.out);
    }
  }
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

  void show(std::uint64_t have, std::uint64_t whole) {
    const auto now = std::chrono::steady_clock::now();
    if (!options_.terminal || now - last_ < kProgressEvery) {
      return;
    }
    last_ = now;
    shown_ = true;
    constexpr double kMega = 1e6;
    std::fprintf(options_.out, "\r\x1b[K%s: %.1f", name_.c_str(), static_cast<double>(have) / kMega);
    if (whole > 0) {
      std::fprintf(options_.out, " of %.1f", static_cast<double>(whole) / kMega);
    }
    std::fputs(" MB", options_.out);
    std::fflush(options_.out);
  }

 private:
  const FetchOptions& options_;
  std::string name_;
  std::chrono::steady_clock::time_point last_;
  bool shown_ = false;
};

class Fetch {
 public:
  Fetch(const DataFiles& set, const fs::path& folder, const FetchOptions& options)
      : set_(set),
        folder_(folder),
        options_(options),
        mirrors_(options.mirrors.empty() ? set.mirrors : options.mirrors) {}

  void run() {
    const FolderLock lock(folder_);
    bool idle = true;
    for (const auto& file : set_.files) {
      const auto found = look_for(file, folder_);
      if (found.state != FoundFile::State::good) {
        idle = false;
        obtain(file, found);
      }
    }
    if (idle) {
      std::fprintf(options_.out, "nothing to do: %s holds %s, %zu good files\n", folder_.c_str(), set_.set.c_str(),
                   set_.files.size());
    }
  }

 private:
  void obtain(const DataFile& file, const FoundFile& found) {
    const auto target = folder_ / packed(file);
    const auto set_aside = [&] {
      if (found.state == FoundFile::State::damaged) {
        std::fprintf(options_.out, "%s is damaged and kept as %s.damaged: %s\n", found.path.filename().c_str(),
                     found.path.filename().c_str(), found.problem.c_str());
        fs::rename(found.path, found.path.string() + ".damaged");
      }
    };
    // A damaged plain file hides a packed one, which may be good.
    if (found.path != target && fs::exists(target) && content_problem(target, file).empty()) {
      set_aside();
      return;
    }
    MirroredFile wanted{packed(file), target, {}, [&](const fs::path& path) { return content_problem(path, file); }};
    wanted.limits.bytes = file.bytes + kPackingMargin;
    wanted.limits.stall = options_.patience;
    MirrorOutcome outcome;
    {
      ShownProgress progress(options_, packed(file));
      outcome = fetch_from_mirrors(
          wanted, mirrors_, [&](auto have, auto whole) { progress.show(have, whole); }, set_aside);
    }
    if (outcome.mirror.empty()) {
      throw std::runtime_error(failure_text(file, outcome.failures));
    }
    std::fprintf(options_.out, "%s: fetched from %s\n", packed(file).c_str(), outcome.mirror.c_str());
    // The others are asked again only when this one fails.
    std::stable_partition(mirrors_.begin(), mirrors_.end(),
                          [&](const auto& mirror) { return mirror == outcome.mirror; });
  }

  [[nodiscard]] std::string failure_text(const DataFile& file, const std::vector<MirrorFailure>& failures) const {
    std::string text = "no mirror has a good copy of " + packed(file) + ":\n";
    for (const auto& failure : failures) {
      text += "  " + failure.mirror + ": " + failure.reason + "\n";
    }
    text += "Name a mirror of your own with --mirror URL, or put these files by hand into " + folder_.string() +
            ", plain or gzip-compressed (then with the ending .gz), and look at them with `ballast data check " +
            set_.set + " --in " + shell_word(folder_.string()) + "`:";
    for (const auto& needed : set_.files) {
      text += "\n  " + needed.name;
    }
    return text;
  }

  const DataFiles& set_;
  const fs::path& folder_;
  const FetchOptions& options_;
  std::vector<std::string> mirrors_;
};

}  // namespace

const DataFiles& mnist_files() {
  static const DataFiles kMnist = {
      "mnist",
      {{"train-images-idx3-ubyte", 47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
       {"train-labels-idx1-ubyte", 60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
       {"t10k-images-idx3-ubyte", 7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
       {"t10k-labels-idx1-ubyte", 10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}},
      {"https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/",
       "http://yann.lecun.com/exdb/mnist/"}};
  return kMnist;
}

FoundFile look_for(const DataFile& file, const fs::path& folder) {
  for (const auto& name : {file.name, packed(file)}) {
    const auto path = folder / name;
    std::error_code error;
    if (fs::exists(path, error) || error) {  // what cannot be looked at is told by who reads it
      auto problem = content_problem(path, file);
      const auto state = problem.empty() ? FoundFile::State::good : FoundFile::State::damaged;
      return {state, path, std::move(problem)};
    }
  }
  return {};
}

bool check_files(const DataFiles& set, const fs::path& folder, std::FILE* out) {
  bool all_good = true;
  std::fprintf(out, "%s in %s\n", set.set.c_str(), folder.c_str());
  for (const auto& file : set.files) {
    const auto found = look_for(file, folder);
    all_good = all_good && found.state == FoundFile::State::good;
    switch (found.state) {
      case FoundFile::State::good:
        std::fprintf(out, "  good     %s\n", found.path.filename().c_str());
        break;
      case FoundFile::State::damaged:
        std::fprintf(out, "  damaged  %s: %s\n", found.path.filename().c_str(), found.problem.c_str());
        break;
      case FoundFile::State::missing:
        std::fprintf(out, "  missing  %s[.gz]\n", file.name.c_str());
        break;
    }
  }
  return all_good;
}

void fetch_files(const DataFiles& set, const fs::path& folder, const FetchOptions& options) {
  for (const auto& mirror : options.mirrors) {
    if (!mirror.starts_with("http://") && !mirror.starts_with("https://")) {
      throw std::runtime_error("--mirror " + mirror + ": it must begin with http:// or https://");
    }
  }
  make_folder(folder);
  Fetch(set, folder, options).run();
}

}  // namespace ballast
