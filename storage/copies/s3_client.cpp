#include "storage/copies/s3_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "common/download/curl.h"
#include "common/numeric/sha256.h"

namespace ballast {
namespace {

constexpr int kAttempts = 3;
constexpr std::chrono::milliseconds kFirstPause{500};
constexpr long kConnectSeconds = 15;
constexpr long kStalledSeconds = 60;  // without a byte, either way
constexpr long kTooMany = 429;
constexpr long kServerFault = 500;
constexpr std::size_t kMaxAnswer = 16U << 20U;  // of what is not given to a sink

constexpr std::string_view kEncryptionHeader = "x-amz-server-side-encryption:";
constexpr std::string_view kKmsKeyHeader = "x-amz-server-side-encryption-aws-kms-key-id:";

struct HeaderList {
  curl_slist* list = nullptr;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

// What an answer's bytes go to.
struct Receiver {
  CURL* curl = nullptr;
  const S3Client::Sink* sink = nullptr;
  S3Response* response = nullptr;
  bool sunk = false;
  bool refused = false;  // by the sink
};

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& receiver = *static_cast<Receiver*>(context);
  const std::string_view piece(bytes, size * count);
  long status = 0;
  curl_easy_getinfo(receiver.curl, CURLINFO_RESPONSE_CODE, &status);
  if (*receiver.sink && status == kHttpOk) {
    receiver.sunk = true;
    receiver.refused = !(*receiver.sink)(piece);
    return receiver.refused ? 0 : piece.size();
  }
  if (receiver.response->body.size() + piece.size() > kMaxAnswer) {
    return 0;
  }
  receiver.response->body.append(piece);
  return piece.size();
}

void take_value(std::string_view line, std::string_view name, std::string& value) {
  if (line.size() > name.size() && curl_strnequal(line.data(), name.data(), name.size()) != 0) {
    const auto begin = line.find_first_not_of(" \t", name.size());
    const auto end = line.find_last_not_of(" \t\r\n");
    value = begin == std::string_view::npos || end < begin ? "" : std::string(line.substr(begin, end - begin + 1));
  }
}

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* context) {
  const std::string_view line(bytes, size * count);
  auto& response = *static_cast<Receiver*>(context)->response;
  take_value(line, "etag:", response.etag);
  take_value(line, kEncryptionHeader, response.encryption);
  return size * count;
}

bool passes_by(const StoreResult<S3Response>& outcome) {
  return !outcome.ok() || outcome.value().status == kTooMany || outcome.value().status >= kServerFault;
}

}  // namespace

struct S3Client::Curl {
  CURL* handle = curl_easy_init();
  ~Curl() { curl_easy_cleanup(handle); }

  template <typename Value>
  void set(CURLoption option, Value value) const {
    if (const auto code = curl_easy_setopt(handle, option, value); code != CURLE_OK) {
      throw std::runtime_error(std::string("libcurl refuses an option: ") + curl_easy_strerror(code));
    }
  }
};

std::string s3_escape(std::string_view text, bool keep_slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (std::isalnum(byte) != 0 && byte < 0x80) || letter == '-' || letter == '_' || letter == '.' ||
                       letter == '~' || (keep_slashes && letter == '/');
    if (plain) {
      escaped.push_back(letter);
    } else {
      escaped.append({'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]});
    }
  }
  return escaped;
}

S3Client::S3Client(S3Settings settings)
    : settings_(std::move(settings)), keys_(settings_.credentials, settings_.credentials_file) {
  start_curl();
  curl_ = std::make_unique<Curl>();
  if (curl_->handle == nullptr) {
    throw std::runtime_error("libcurl has no memory for a connection");
  }
}

S3Client::~S3Client() = default;

StoreResult<S3Response> S3Client::attempt(const std::string& method, const std::string& url, const Lines& lines,
                                          std::string_view body, const Sink& sink, bool& sunk) {
  S3Response response;
  Receiver receiver{curl_->handle, &sink, &response};
  HeaderList headers;
  headers.add("x-amz-content-sha256: " + sha256_hex(body));
  for (const auto& line : lines) {
    headers.add(line);
  }
  const auto& keys = keys_.now();
  if (!keys.session_token.empty()) {
    headers.add("x-amz-security-token: " + keys.session_token);
  }
  if (!body.empty()) {
    headers.add("Content-Type: application/octet-stream");
  }
  std::array<char, CURL_ERROR_SIZE> reason{};
  curl_easy_reset(curl_->handle);
  curl_->set(CURLOPT_URL, url.c_str());
  curl_->set(CURLOPT_PROTOCOLS_STR, "http,https");
  curl_->set(CURLOPT_NOSIGNAL, 1L);
  curl_->set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_->set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_->set(CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
  curl_->set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1000L);
  curl_->set(CURLOPT_USERNAME, keys.access_key.c_str());
  curl_->set(CURLOPT_PASSWORD, keys.secret_key.c_str());
  curl_->set(CURLOPT_AWS_SIGV4, ("aws:amz:" + settings_.region + ":s3").c_str());
  curl_->set(CURLOPT_CUSTOMREQUEST, method.c_str());
  if (method == "PUT" || method == "POST") {
    curl_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_->set(CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  }
  curl_->set(CURLOPT_HTTPHEADER, headers.list);
  curl_->set(CURLOPT_ERRORBUFFER, reason.data());
  curl_->set(CURLOPT_WRITEFUNCTION, &take_body);
  curl_->set(CURLOPT_WRITEDATA, static_cast<void*>(&receiver));
  curl_->set(CURLOPT_HEADERFUNCTION, &take_header);
  curl_->set(CURLOPT_HEADERDATA, static_cast<void*>(&receiver));
  const auto code = curl_easy_perform(curl_->handle);
  sunk = receiver.sunk;
  if (code != CURLE_OK && !receiver.refused) {
    return StoreStatus{StoreCode::io,
                       settings_.endpoint + ": " + (reason[0] != '\0' ? reason.data() : curl_easy_strerror(code))};
  }
  curl_easy_getinfo(curl_->handle, CURLINFO_RESPONSE_CODE, &response.status);
  return response;
}

StoreResult<S3Response> S3Client::request(const std::string& method, const std::string& key, const Query& query,
                                          std::string_view body, const Sink& sink) {
  return request_with({}, method, key, query, body, sink);
}

StoreResult<S3Response> S3Client::begin_object(const std::string& method, const std::string& key, const Query& query,
                                               std::string_view body) {
  Lines lines;
  if (!settings_.encryption.empty()) {
    lines.push_back(std::string(kEncryptionHeader) + " " + settings_.encryption);
  }
  if (!settings_.kms_key_id.empty()) {
    lines.push_back(std::string(kKmsKeyHeader) + " " + settings_.kms_key_id);
  }
  return request_with(lines, method, key, query, body, {});
}

StoreResult<S3Response> S3Client::request_with(const Lines& lines, const std::string& method, const std::string& key,
                                               const Query& query, std::string_view body, const Sink& sink) {
  auto url = settings_.endpoint + "/" + s3_escape(settings_.bucket, false);
  if (!key.empty()) {
    url += "/" + s3_escape(key, true);
  }
  char separator = '?';
  for (const auto& [name, value] : query) {
    url += separator + s3_escape(name, false) + "=" + s3_escape(value, false);
    separator = '&';
  }
  auto pause = kFirstPause;
  for (int tried = 1;; ++tried) {
    bool sunk = false;
    auto outcome = attempt(method, url, lines, body, sink, sunk);
    if (!passes_by(outcome) || sunk || tried == kAttempts) {
      return outcome;
    }
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

}  // namespace ballast
