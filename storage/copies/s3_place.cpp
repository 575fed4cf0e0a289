#include <cstdlib>
#include <optional>

#include "common/keys/key_file.h"
#include "common/log/log.h"
#include "storage/copies/place.h"
#include "storage/copies/s3_client.h"

namespace ballast {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr long kNoContent = 204;
constexpr long kForbidden = 403;
constexpr long kNotFound = 404;
constexpr std::size_t kPartBytes = 16U << 20U;  // of an object in several parts; S3 wants at least 5 MiB
constexpr std::size_t kMaxParts = 10'000;       // S3's limit: objects of up to 156 GiB

// What stands between <tag> and </tag> from `from` on; moves `from` behind it.
std::optional<std::string_view> next_element(std::string_view xml, std::string_view tag, std::size_t& from) {
  const auto open = std::string("<").append(tag).append(">");
  const auto close = std::string("</").append(tag).append(">");
  const auto begin = xml.find(open, from);
  const auto end = begin == std::string_view::npos ? begin : xml.find(close, begin);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  from = end + close.size();
  return xml.substr(begin + open.size(), end - begin - open.size());
}

std::string element(std::string_view xml, std::string_view tag) {
  std::size_t from = 0;
  return std::string(next_element(xml, tag, from).value_or(std::string_view()));
}

std::string unescape_xml(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                                                                    {"&quot;", '"'}, {"&apos;", '\''}, {"&#39;", '\''}};
  std::string plain;
  while (!text.empty()) {
    std::size_t taken = 1;
    char letter = text.front();
    for (const auto& [entity, meant] : kEntities) {
      if (text.starts_with(entity)) {
        taken = entity.size();
        letter = meant;
      }
    }
    plain.push_back(letter);
    text.remove_prefix(taken);
  }
  return plain;
}

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    letter == '&' ? escaped += "&amp;" : letter == '<' ? escaped += "&lt;" : escaped += letter;
  }
  return escaped;
}

class S3Place final : public CopyPlace {
 public:
  S3Place(S3Settings settings, std::string prefix) : client_(std::move(settings)), prefix_(std::move(prefix)) {}

  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override;

  StoreStatus read(const std::string& name, const Sink& sink) override {
    return expect(client_.request("GET", key(name), {}, {}, sink), name, "read", {kHttpOk});
  }

  StoreResult<std::vector<std::string>> list(const std::string& prefix) override {
    std::vector<std::string> names;
    S3Client::Query query = {{"list-type", "2"}, {"prefix", key(prefix)}};
    for (;;) {
      const auto answer = client_.request("GET", {}, query, {});
      if (auto status = expect(answer, {}, "list the copies", {kHttpOk}); !status.ok()) {
        return status;
      }
      const auto& xml = answer.value().body;
      for (std::size_t from = 0; const auto found = next_element(xml, "Key", from);) {
        const auto full = unescape_xml(*found);
        if (full.starts_with(prefix_)) {
          names.push_back(full.substr(prefix_.size()));
        }
      }
      const auto next = unescape_xml(element(xml, "NextContinuationToken"));
      if (element(xml, "IsTruncated") != "true" || next.empty()) {
        return names;
      }
      query["continuation-token"] = next;
    }
  }

  // Uploads in several parts that were neither completed nor given up: the storage keeps, and bills, their parts.
  StoreStatus remove_unfinished(const std::string& prefix, const Ours& is_ours) override {
    S3Client::Query query = {{"uploads", ""}, {"prefix", key(prefix)}};
    for (;;) {
      const auto answer = client_.request("GET", {}, query, {});
      if (auto status = expect(answer, {}, "list unfinished uploads", {kHttpOk}); !status.ok()) {
        return status;
      }
      const auto& xml = answer.value().body;
      for (std::size_t from = 0; const auto upload = next_element(xml, "Upload", from);) {
        const auto full = unescape_xml(element(*upload, "Key"));
        const auto name = full.starts_with(prefix_) ? full.substr(prefix_.size()) : std::string();
        if (!is_ours(name)) {
          continue;
        }
        auto status =
            expect(client_.request("DELETE", full, {{"uploadId", unescape_xml(element(*upload, "UploadId"))}}, {}),
                   name, "give up an unfinished upload", {kHttpOk, kNoContent, kNotFound});
        if (!status.ok()) {
          return status;
        }
      }
      query["key-marker"] = unescape_xml(element(xml, "NextKeyMarker"));
      query["upload-id-marker"] = unescape_xml(element(xml, "NextUploadIdMarker"));
      if (element(xml, "IsTruncated") != "true" || query["key-marker"].empty()) {
        return {};
      }
    }
  }

  StoreStatus remove(const std::string& name) override {
    return expect(client_.request("DELETE", key(name), {}, {}), name, "remove", {kHttpOk, kNoContent, kNotFound});
  }

  [[nodiscard]] std::string describe(const std::string& name) const override {
    return std::string(kScheme) + client_.settings().bucket + "/" + prefix_ + name + " at " +
           client_.settings().endpoint;
  }

  [[nodiscard]] std::string key(const std::string& name) const { return prefix_ + name; }
  [[nodiscard]] S3Client& client() { return client_; }

  StoreStatus expect(const StoreResult<S3Response>& answer, const std::string& name, const std::string& what,
                     std::initializer_list<long> good) const {
    if (!answer.ok()) {
      return {StoreCode::io, describe(name) + ": cannot " + what + ": " + answer.status().text()};
    }
    const auto status = answer.value().status;
    for (const auto one : good) {
      if (status == one) {
        return {};
      }
    }
    const auto code = element(answer.value().body, "Code");
    const auto message = element(answer.value().body, "Message");
    auto text = describe(name) + ": cannot " + what + ": the storage answers " + std::to_string(status);
    text += code.empty() ? "" : " " + code;
    text += message.empty() ? "" : " (" + message + ")";
    if (status == kForbidden) {
      text +=
          "; are the keys (durability.s3_credentials_file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY) and "
          "AWS_REGION right, and this machine's clock?";
    }
    return {status == kNotFound ? StoreCode::missing : StoreCode::io, text};
  }

  // A storage that does not know of encryption takes the object all the same.
  [[nodiscard]] StoreStatus expect_encryption(const S3Response& answer, const std::string& name) const {
    const auto& told = client_.settings().encryption;
    if (told.empty() || answer.encryption == told) {
      return {};
    }
    return {StoreCode::io, describe(name) + ": the storage was told to encrypt it by " + told +
                               " (durability.s3_encryption), and answers " +
                               (answer.encryption.empty() ? "nothing of that" : "that it did by " + answer.encryption) +
                               "; the object is taken back"};
  }

 private:
  S3Client client_;
  std::string prefix_;  // ends in "/", or is empty
};

// Holds back a part's bytes; an object of one part is put as a whole, a larger one in several.
class S3Writer final : public ObjectWriter {
 public:
  S3Writer(S3Place& place, std::string name) : place_(place), name_(std::move(name)) {}
  ~S3Writer() override {
    if (!upload_.empty()) {
      static_cast<void>(place_.client().request("DELETE", place_.key(name_), {{"uploadId", upload_}}, {}));
    }
  }

  StoreStatus append(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (part_.size() == kPartBytes) {
        if (auto put = put_part(); !put.ok()) {
          return put;
        }
      }
      const auto taken = bytes.substr(0, kPartBytes - part_.size());
      part_.append(taken);
      bytes.remove_prefix(taken.size());
    }
    return {};
  }

  StoreStatus finish() override {
    if (upload_.empty()) {
      const auto answer = place_.client().begin_object("PUT", place_.key(name_), {}, part_);
      if (auto status = place_.expect(answer, name_, "write", {kHttpOk}); !status.ok()) {
        return status;
      }
      auto encrypted = place_.expect_encryption(answer.value(), name_);
      if (!encrypted.ok()) {
        static_cast<void>(place_.remove(name_));
      }
      return encrypted;
    }
    if (auto put = put_part(); !put.ok()) {
      return put;
    }
    std::string xml = "<CompleteMultipartUpload>";
    for (std::size_t index = 0; index < etags_.size(); ++index) {
      xml += "<Part><PartNumber>" + std::to_string(index + 1) + "</PartNumber><ETag>" + escape_xml(etags_[index]) +
             "</ETag></Part>";
    }
    xml += "</CompleteMultipartUpload>";
    const auto answer = place_.client().request("POST", place_.key(name_), {{"uploadId", upload_}}, xml);
    auto status = place_.expect(answer, name_, "finish", {kHttpOk});
    // The status comes before the work is done: a failure may follow it, in the body.
    if (status.ok() && !element(answer.value().body, "Code").empty()) {
      status = {StoreCode::io, place_.describe(name_) + ": cannot finish: " + answer.value().body};
    }
    if (status.ok()) {
      upload_.clear();
    }
    return status;
  }

 private:
  StoreStatus begin_upload() {
    const auto answer = place_.client().begin_object("POST", place_.key(name_), {{"uploads", ""}}, {});
    if (auto status = place_.expect(answer, name_, "begin to write", {kHttpOk}); !status.ok()) {
      return status;
    }
    upload_ = unescape_xml(element(answer.value().body, "UploadId"));
    if (upload_.empty()) {
      return {StoreCode::io, place_.describe(name_) + ": cannot begin to write: the storage gave no UploadId"};
    }
    return place_.expect_encryption(answer.value(), name_);
  }

  StoreStatus put_part() {
    if (upload_.empty()) {
      if (auto begun = begin_upload(); !begun.ok()) {
        return begun;
      }
    }
    if (etags_.size() == kMaxParts) {
      return {StoreCode::io, place_.describe(name_) + ": the object is larger than S3 takes; use more shards"};
    }
    const auto answer = place_.client().request(
        "PUT", place_.key(name_), {{"partNumber", std::to_string(etags_.size() + 1)}, {"uploadId", upload_}}, part_);
    if (auto status = place_.expect(answer, name_, "write a part", {kHttpOk}); !status.ok()) {
      return status;
    }
    etags_.push_back(answer.value().etag);
    part_.clear();
    return {};
  }

  S3Place& place_;
  std::string name_;
  std::string part_;
  std::string upload_;  // the id of one in several parts
  std::vector<std::string> etags_;
};

StoreResult<std::unique_ptr<ObjectWriter>> S3Place::write(const std::string& name) {
  return std::unique_ptr<ObjectWriter>(std::make_unique<S3Writer>(*this, name));
}

std::string from_environment(const char* name, const std::string& otherwise = {}) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// What is in the environment is seen by every process that this one starts, and by who may read its /proc.
StoreResult<S3Credentials> credentials_of(const CopyTarget& target) {
  if (!target.s3_credentials_file.empty()) {
    if (const auto why = why_not_private(target.s3_credentials_file); !why.empty()) {
      log_warn("{}", why);
    }
    auto credentials = load_s3_credentials(target.s3_credentials_file);
    if (!credentials.ok()) {
      return StoreStatus{credentials.status().code(),
                         target.place +
                             ": no keys for it (durability.s3_credentials_file; of `ballast restore` "
                             "--s3-credentials-file): " +
                             credentials.status().text()};
    }
    return credentials;
  }
  S3Credentials credentials{from_environment("AWS_ACCESS_KEY_ID"), from_environment("AWS_SECRET_ACCESS_KEY"),
                            from_environment("AWS_SESSION_TOKEN")};
  if (credentials.access_key.empty() || credentials.secret_key.empty()) {
    return StoreStatus{
        StoreCode::mismatch,
        target.place +
            ": no keys for it: name a file of them (durability.s3_credentials_file; of `ballast restore` "
            "--s3-credentials-file), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"};
  }
  log_warn("the keys of {} are in the environment, where more can see them than a file: durability.s3_credentials_file",
           target.place);
  return credentials;
}

}  // namespace

StoreResult<std::unique_ptr<CopyPlace>> make_s3_place(const CopyTarget& target) {
  const auto path = std::string_view(target.place).substr(kScheme.size());
  const auto slash = path.find('/');
  S3Settings settings;
  settings.bucket = path.substr(0, slash);
  auto prefix = slash == std::string_view::npos ? std::string() : std::string(path.substr(slash + 1));
  if (!prefix.empty() && !prefix.ends_with('/')) {
    prefix += '/';
  }
  if (settings.bucket.empty() || prefix.starts_with('/')) {
    return StoreStatus{StoreCode::mismatch, target.place + ": that is no s3://BUCKET/PREFIX"};
  }
  settings.region = from_environment("AWS_REGION", from_environment("AWS_DEFAULT_REGION", "us-east-1"));
  auto credentials = credentials_of(target);
  if (!credentials.ok()) {
    return credentials.status();
  }
  settings.credentials = std::move(credentials.value());
  settings.credentials_file = target.s3_credentials_file;
  settings.encryption = target.s3_encryption == "none" ? "" : target.s3_encryption;
  settings.kms_key_id = target.s3_kms_key_id;
  settings.endpoint = target.s3_endpoint;
  if (settings.endpoint.empty()) {
    settings.endpoint = "https://s3." + settings.region + ".amazonaws.com";
  }
  while (settings.endpoint.ends_with('/')) {
    settings.endpoint.pop_back();
  }
  if (!settings.endpoint.starts_with("http://") && !settings.endpoint.starts_with("https://")) {
    return StoreStatus{StoreCode::mismatch,
                       "durability.s3_endpoint: " + target.s3_endpoint + " is no http:// or https:// address"};
  }
  return std::unique_ptr<CopyPlace>(std::make_unique<S3Place>(std::move(settings), std::move(prefix)));
}

}  // namespace ballast
