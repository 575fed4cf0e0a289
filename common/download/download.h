// One file by HTTP or HTTPS, in as many pieces as it takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace ballast {

struct DownloadLimits {
  std::uint64_t bytes = 0;           // the file is at most so large
  std::chrono::seconds connect{15};  // until the server is reached
  std::chrono::seconds stall{20};    // the longest time with less than 1 KiB a second
};

// Bytes there are of the file, and bytes it has in all (0: the server does not say). Called often.
using DownloadProgress = std::function<void(std::uint64_t have, std::uint64_t whole)>;

struct DownloadOutcome {
  std::string failure;         // empty: `part` is what the server has
  bool resumed = false;        // it began with bytes of an earlier attempt, which may have been of another file
  std::uint64_t received = 0;  // by this attempt
};

// Downloads to `part`. Bytes that it already holds are not asked for again (RFC 9110, section 14: Range); a server that
// sends the whole file all the same, or says that it has no more than these, starts it anew. After a failure what has
// come stays there for the next attempt. Follows redirects; other schemes than http and https are refused, so is a file
// larger than the limit. Obeys the usual variables for proxies (https_proxy, no_proxy, ...). Throws std::runtime_error
// where `part` cannot be written. Thread-safe, but only one at a time may write the same `part`.
DownloadOutcome download(const std::string& url, const std::filesystem::path& part, const DownloadLimits& limits,
                         const DownloadProgress& progress);

}  // namespace ballast
