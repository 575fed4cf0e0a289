// With which keys an S3-compatible storage is asked.
#pragma once

#include <string>

#include "common/files/file_change.h"
#include "common/files/status.h"

namespace ballast {

struct S3Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // may be empty
};

// Of a file as the AWS command line has it: in [default], or the first section, lines aws_access_key_id = ...,
// aws_secret_access_key = ... and, if need be, aws_session_token = .... `mismatch` with the file and the line, never
// with a key.
StoreResult<S3Credentials> parse_s3_credentials(const std::string& text, const std::string& path);
StoreResult<S3Credentials> load_s3_credentials(const std::string& path);

// From a file, which is read anew when it has changed (keys may be replaced while a job goes on), or as they were
// given. One thread.
class S3Keys {
 public:
  S3Keys(S3Credentials given, std::string file)
      : credentials_(std::move(given)), file_(std::move(file)), change_(file_) {
    change_.seen();
  }
  // Those of now; what cannot be read any more is as it was, and logged.
  const S3Credentials& now();

 private:
  S3Credentials credentials_;
  std::string file_;  // empty: none
  FileChange change_;
};

}  // namespace ballast
