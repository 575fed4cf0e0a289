#include "common/download/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "common/download/curl.h"

namespace ballast {

namespace {

constexpr long kSlowBytes = 1024;  // a second
constexpr long kRedirects = 5;
constexpr long kOk = 200;
constexpr long kPartial = 206;
constexpr long kRangeNotSatisfiable = 416;
constexpr const char* kSchemes = "http,https";

// The file that is being put together.
class PartFile {
 public:
  explicit PartFile(const std::filesystem::path& path)
      : path_(path), fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    struct stat found {};
    if (fd_ < 0 || ::fstat(fd_, &found) != 0) {
      fail();
    }
    size_ = static_cast<std::uint64_t>(found.st_size);
  }
  ~PartFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  void clear() {
    if (::ftruncate(fd_, 0) != 0) {
      fail();
    }
    size_ = 0;
  }
  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written <= 0) {
        fail();
      }
      size_ += static_cast<std::uint64_t>(written);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error("cannot write " + path_.string() + ": " + std::strerror(errno));
  }

  std::filesystem::path path_;
  int fd_;
  std::uint64_t size_ = 0;
};

// One request and its answer.
class Transfer {
 public:
  Transfer(const std::string& url, PartFile& part, const DownloadLimits& limits, const DownloadProgress& progress)
      : part_(part), limits_(limits), progress_(progress), start_(part.size()), curl_(curl_easy_init()) {
    if (!curl_) {
      throw std::runtime_error("libcurl cannot be started: out of memory");
    }
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PROTOCOLS_STR, kSchemes);
    set(CURLOPT_REDIR_PROTOCOLS_STR, kSchemes);
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, kRedirects);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, "ballast");
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits.connect.count()));
    set(CURLOPT_LOW_SPEED_LIMIT, kSlowBytes);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.stall.count()));
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
    set(CURLOPT_WRITEDATA, this);
    if (start_ > 0) {
      set(CURLOPT_RANGE, (std::to_string(start_) + "-").c_str());
    }
  }

  // The failure; empty if all came.
  std::string run() {
    const auto code = curl_easy_perform(curl_.get());
    if (thrown_) {
      std::rethrow_exception(thrown_);
    }
    if (!refusal_.empty()) {
      return refusal_;
    }
    if (code == CURLE_OPERATION_TIMEDOUT && answered_) {
      return "stalled: less than 1 KiB a second for " + std::to_string(limits_.stall.count()) + " s";
    }
    if (code != CURLE_OK) {
      return error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
    }
    return begun_ || begin() ? "" : refusal_;  // an empty answer has no body to begin with
  }

  [[nodiscard]] bool resumed() const { return resumed_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] bool nothing_beyond_start() const { return start_ > 0 && status() == kRangeNotSatisfiable; }

 private:
  struct Cleanup {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };

  template <typename Value>
  void set(CURLoption option, Value value) {
    const auto code = curl_easy_setopt(curl_.get(), option, value);
    if (code != CURLE_OK) {
      throw std::runtime_error(std::string("libcurl refuses an option: ") + curl_easy_strerror(code));
    }
  }

  [[nodiscard]] long status() const {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    static_cast<Transfer*>(self)->read_header({data, size});
    return size;
  }

  // "Content-Range: bytes FIRST-LAST/WHOLE"; a status line begins another answer, after a redirect.
  void read_header(std::string_view line) {
    answered_ = true;
    constexpr std::string_view kName = "content-range: bytes ";
    if (line.starts_with("HTTP/")) {
      range_first_.reset();
    } else if (line.size() > kName.size() && curl_strnequal(line.data(), kName.data(), kName.size()) != 0) {
      std::uint64_t first = 0;
      const auto* const digits = line.data() + kName.size();
      if (std::from_chars(digits, line.data() + line.size(), first).ec == std::errc{}) {
        range_first_ = first;
      }
    }
  }

  // Nothing may be thrown through libcurl.
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      return transfer.take({data, size}) ? size : CURL_WRITEFUNC_ERROR;
    } catch (...) {
      transfer.thrown_ = std::current_exception();
      return CURL_WRITEFUNC_ERROR;
    }
  }

  bool take(std::string_view bytes) {
    if (!begun_ && !begin()) {
      return false;
    }
    if (bytes.size() > limits_.bytes - part_.size()) {
      part_.clear();
      refusal_ = "the file is larger than " + std::to_string(limits_.bytes) + " bytes: it is not the one wanted";
      return false;
    }
    part_.append(bytes);
    received_ += bytes.size();
    if (progress_) {
      progress_(part_.size(), whole());
    }
    return true;
  }

  // Decides by the answer's head where its body belongs.
  bool begin() {
    begun_ = true;
    const auto code = status();
    if (code == kOk) {
      part_.clear();
    } else if (code == kPartial && start_ > 0 && range_first_ == start_) {
      resumed_ = true;
    } else if (code == kPartial) {
      part_.clear();
      refusal_ = "the server sent another part of the file than it was asked for";
      return false;
    } else {
      refusal_ = "the server answered with HTTP status " + std::to_string(code);
      return false;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t whole() const {
    curl_off_t body = -1;
    curl_easy_getinfo(curl_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &body);
    return body < 0 ? 0 : (resumed_ ? start_ : 0) + static_cast<std::uint64_t>(body);
  }

  PartFile& part_;
  const DownloadLimits& limits_;
  const DownloadProgress& progress_;
  const std::uint64_t start_;
  std::unique_ptr<CURL, Cleanup> curl_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::optional<std::uint64_t> range_first_;
  bool answered_ = false;
  bool begun_ = false;
  bool resumed_ = false;
  std::uint64_t received_ = 0;
  std::string refusal_;
  std::exception_ptr thrown_;
};

}  // namespace

DownloadOutcome download(const std::string& url, const std::filesystem::path& part, const DownloadLimits& limits,
                         const DownloadProgress& progress) {
  start_curl();
  PartFile file(part);
  if (file.size() > limits.bytes) {
    file.clear();
  }
  while (true) {
    Transfer transfer(url, file, limits, progress);
    auto failure = transfer.run();
    if (!transfer.nothing_beyond_start()) {
      return {std::move(failure), transfer.resumed(), transfer.received()};
    }
    file.clear();  // and again, without a range this time
  }
}

}  // namespace ballast
