// Signed requests to an S3-compatible storage (AWS Signature Version 4), over libcurl.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/status.h"
#include "storage/copies/s3_credentials.h"

namespace ballast {

inline constexpr long kHttpOk = 200;

struct S3Settings {
  std::string endpoint;  // http(s)://HOST[:PORT], without a "/" at the end
  std::string bucket;
  std::string region;
  S3Credentials credentials;
  std::string credentials_file;  // read anew when it changes; empty: the credentials stay
  std::string encryption;        // that the storage is asked for; empty: as its bucket says
  std::string kms_key_id;        // of that; empty: the storage's own
};

struct S3Response {
  long status = 0;
  std::string body;  // what the sink did not take
  std::string etag;
  std::string encryption;  // by which the storage says that it keeps the object
};

// One connection, kept open between requests. One thread.
class S3Client {
 public:
  using Sink = std::function<bool(std::string_view bytes)>;
  using Query = std::map<std::string, std::string>;  // sorted, as signing wants it

  // Throws std::runtime_error if libcurl cannot be used.
  explicit S3Client(S3Settings settings);
  ~S3Client();
  S3Client(const S3Client&) = delete;
  S3Client& operator=(const S3Client&) = delete;

  // `key` empty: the bucket itself. An answer of any status is a response; `io` means there was none. Tried again a few
  // times where the server or the way to it is at fault for the moment, unless the sink has been given something.
  StoreResult<S3Response> request(const std::string& method, const std::string& key, const Query& query,
                                  std::string_view body, const Sink& sink = {});
  // The request that begins an object: a PUT of a whole one, a POST of one in several parts. It alone says how the
  // storage is to encrypt.
  StoreResult<S3Response> begin_object(const std::string& method, const std::string& key, const Query& query,
                                       std::string_view body);

  [[nodiscard]] const S3Settings& settings() const { return settings_; }

 private:
  struct Curl;
  using Lines = std::vector<std::string>;  // of a header
  StoreResult<S3Response> attempt(const std::string& method, const std::string& url, const Lines& lines,
                                  std::string_view body, const Sink& sink, bool& sunk);
  StoreResult<S3Response> request_with(const Lines& lines, const std::string& method, const std::string& key,
                                       const Query& query, std::string_view body, const Sink& sink);

  S3Settings settings_;
  S3Keys keys_;
  std::unique_ptr<Curl> curl_;
};

// A part of a path or a query as signing wants it: all but letters, digits and -_.~ escaped.
std::string s3_escape(std::string_view text, bool keep_slashes);

}  // namespace ballast
