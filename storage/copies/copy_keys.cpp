#include "storage/copies/copy_keys.h"

#include <openssl/rand.h>

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/command/usage_error.h"
#include "common/keys/key_file.h"
#include "common/log/log.h"
#include "common/numeric/sha256.h"

namespace ballast {

namespace {

constexpr std::string_view kSecretWord = "secret";
constexpr std::string_view kIdOf = "ballast: the id of a key of copies\n";
constexpr std::size_t kDigitsOfByte = 2;

// Of a key whose secret is there.
CopyKey with_id(CopyKey key) {
  Sha256 sum;
  sum.update(kIdOf).update(std::as_bytes(std::span(key.secret)));
  key.id = sum.hex().substr(0, kDigitsOfByte * kCopyKeyIdBytes);
  return key;
}

bool take_hexadecimal(std::string_view digits, CopyKey& key) {
  if (digits.size() != kDigitsOfByte * kCopyKeyBytes) {
    return false;
  }
  for (auto& byte : key.secret) {
    const auto* const end = digits.data() + kDigitsOfByte;
    const auto [rest, fault] = std::from_chars(digits.data(), end, byte, 16);
    if (fault != std::errc() || rest != end) {
      return false;
    }
    digits.remove_prefix(kDigitsOfByte);
  }
  return true;
}

StoreStatus unfit(const std::string& path, const std::string& what) {
  return {StoreCode::mismatch, path + ": " + what + "; `ballast keygen --copies FILE` makes such a file"};
}

}  // namespace

CopyKey make_copy_key() {
  CopyKey key;
  if (RAND_bytes(key.secret.data(), static_cast<int>(key.secret.size())) != 1) {
    throw std::runtime_error("libcrypto has no random bytes for a key");
  }
  return with_id(std::move(key));
}

std::string format_copy_key(const CopyKey& key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line = "# key " + key.id + '\n' + std::string(kSecretWord) + ' ';
  for (const auto byte : key.secret) {
    line += kDigits[byte >> 4U];
    line += kDigits[byte & 15U];
  }
  return line + '\n';
}

StoreResult<std::vector<CopyKey>> parse_copy_keys(std::string_view text, const std::string& path) {
  std::istringstream lines{std::string(text)};
  std::vector<CopyKey> keys;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string word;
    std::string digits;
    std::string more;
    if (!(words >> word) || word.front() == '#') {
      continue;
    }
    CopyKey key;
    if (word != kSecretWord || !(words >> digits) || (words >> more) || !take_hexadecimal(digits, key)) {
      return unfit(path,
                   "line " + std::to_string(number) + " is neither a remark nor: secret, and 64 hexadecimal digits");
    }
    keys.push_back(with_id(std::move(key)));
  }
  return keys.empty() ? StoreResult<std::vector<CopyKey>>(unfit(path, "it has no key")) : std::move(keys);
}

StoreResult<CopyKeys> CopyKeys::load(const std::filesystem::path& file) {
  CopyKeys loaded(file);
  try {
    auto keys = parse_copy_keys(read_key_file(file), file.string());
    if (!keys.ok()) {
      return keys.status();
    }
    loaded.keys_ = std::move(keys.value());
  } catch (const UsageError& unreadable) {
    return StoreStatus{StoreCode::mismatch, unreadable.what()};
  }
  if (const auto why = why_not_private(file); !why.empty()) {
    log_warn("{}", why);
  }
  return loaded;
}

void CopyKeys::refresh() {
  if (file_.empty() || !change_.seen()) {
    return;
  }
  auto changed = load(file_);
  if (changed.ok()) {
    keys_ = std::move(changed.value().keys_);
    log_info("the keys of copies in {} are read anew: {}", file_, ids());
  } else {
    log_warn("the keys of copies stay as they were: {}", changed.status().text());
  }
}

const CopyKey* CopyKeys::find(std::string_view id) const {
  for (const auto& key : keys_) {
    if (key.id == id) {
      return &key;
    }
  }
  return nullptr;
}

std::string CopyKeys::ids() const {
  std::string all;
  for (const auto& key : keys_) {
    all += (all.empty() ? "" : ", ") + key.id;
  }
  return all;
}

}  // namespace ballast
