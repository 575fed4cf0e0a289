// Where copies of snapshots go: a folder, or a bucket of an S3-compatible storage. Objects have names of parts parted
// by
// "/" and appear whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/status.h"

namespace ballast {

// An object that is being written. One thread. Destroyed before finish() returned ok, it never existed.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual StoreStatus append(std::string_view bytes) = 0;
  // Durable, and visible under its name, when it returns ok. The last call.
  virtual StoreStatus finish() = 0;
};

// One thread. Error texts name the place and the object.
class CopyPlace {
 public:
  // False ends the reading.
  using Sink = std::function<bool(std::string_view bytes)>;

  virtual ~CopyPlace() = default;

  // Replaces an object of that name.
  virtual StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) = 0;
  // The object's bytes in order, in pieces of any size. `missing` if there is none.
  virtual StoreStatus read(const std::string& name, const Sink& sink) = 0;
  // All names that begin with `prefix`, in no order. Nothing is no error.
  virtual StoreResult<std::vector<std::string>> list(const std::string& prefix = {}) = 0;
  // Whether there is an object of that name that read() begins to read: `ok`, `missing`, or why it does not.
  virtual StoreStatus look(const std::string& name);
  // Removes what writers that were killed have left of objects whose names begin with `prefix` and for which `is_ours`
  // holds. No writer of such an object lives.
  using Ours = std::function<bool(const std::string& name)>;
  virtual StoreStatus remove_unfinished(const std::string& prefix, const Ours& is_ours) = 0;
  // Removing what is not there is no error.
  virtual StoreStatus remove(const std::string& name) = 0;
  // For messages: the place, or an object in it.
  [[nodiscard]] virtual std::string describe(const std::string& name = {}) const = 0;
};

struct CopyTarget {
  std::string place;             // a folder, or s3://BUCKET or s3://BUCKET/PREFIX
  std::string s3_endpoint = {};  // http(s)://HOST[:PORT]; empty: Amazon's, of the region
  bool has_to_be_there = false;  // the folder: where it is not, nothing is written, for what is mounted there is away
  std::string s3_credentials_file = {};  // of S3's keys; empty: they are in the environment
  std::string s3_encryption = "none";    // x-amz-server-side-encryption of every object; none: it has no such header
  std::string s3_kms_key_id = {};        // with aws:kms; empty: the storage's own key
  std::string copy_key_file = {};        // of the keys by which objects are encrypted here; empty: they are not
  bool accept_plain = false;             // with keys: objects that are not encrypted are read as well
};

// For S3 the keys come from a file, or from the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, where it is
// set, AWS_SESSION_TOKEN. AWS_REGION (otherwise us-east-1) is always the environment's. `mismatch` if the place cannot
// be one, or keys are missing; nothing is touched yet. Objects are encrypted and decrypted on the way
// (storage/copies/sealed_place.h).
StoreResult<std::unique_ptr<CopyPlace>> open_copy_place(const CopyTarget& target);

// The two kinds; open_copy_place tells them apart.
std::unique_ptr<CopyPlace> make_folder_place(const std::string& folder, bool has_to_be_there = false);
StoreResult<std::unique_ptr<CopyPlace>> make_s3_place(const CopyTarget& target);

}  // namespace ballast
