// libcurl, for all that speak HTTP.
#pragma once

#include <curl/curl.h>

#include <stdexcept>
#include <string>

namespace ballast {

// Before any other call, as often as one likes; once for the whole process. Throws std::runtime_error. Thread-safe.
inline void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) {
    throw std::runtime_error(std::string("libcurl cannot be started: ") + curl_easy_strerror(started));
  }
}

}  // namespace ballast
