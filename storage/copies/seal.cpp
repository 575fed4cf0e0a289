#include "storage/copies/seal.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "storage/bytes.h"
#include "storage/checksum.h"

namespace ballast {

namespace {

constexpr std::string_view kSealMagic = "BLSTSEAL";
constexpr std::uint32_t kSealFormat = 1;
constexpr std::size_t kSaltBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kSumBytes = 4;
constexpr std::size_t kSealFormatBytes = 8 + 4;                                               // up to the format
constexpr std::size_t kSealFixedBytes = kSealFormatBytes + kCopyKeyIdBytes + kSaltBytes + 4;  // up to the name
constexpr std::size_t kMaxSealedName = 4096;

using ObjectKey = std::array<unsigned char, kCopyKeyBytes>;

void require_crypto(bool success) {
  if (!success) {
    throw std::runtime_error("libcrypto failed to encrypt or decrypt a copy");
  }
}

const unsigned char* octets(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* octets(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

std::string id_bytes(const std::string& id) {
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number, 16);
  return ByteWriter().number(number).take();
}

std::string id_text(std::uint64_t number) {
  std::array<char, 2 * kCopyKeyIdBytes> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  const std::string text(digits.data(), end);
  return std::string(digits.size() - text.size(), '0') + text;
}

OSSL_PARAM octet_param(const char* name, std::string_view bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(bytes.data()), bytes.size());
}

ObjectKey derive(const CopyKey& key, const SealHead& head) {
  struct FreeKdf {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
  };
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  require_crypto(kdf != nullptr);
  const std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(EVP_KDF_CTX_new(kdf.get()));
  require_crypto(context != nullptr);
  const std::string_view salt = std::string_view(head.bytes).substr(kSealFormatBytes + kCopyKeyIdBytes, kSaltBytes);
  const std::string_view secret(reinterpret_cast<const char*>(key.secret.data()), key.secret.size());
  const std::string information = "ballast copy\n" + head.bytes;
  std::string digest = "SHA256";
  const std::array<OSSL_PARAM, 5> settings = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), digest.size()),
      octet_param(OSSL_KDF_PARAM_KEY, secret), octet_param(OSSL_KDF_PARAM_SALT, salt),
      octet_param(OSSL_KDF_PARAM_INFO, information), OSSL_PARAM_construct_end()};
  ObjectKey derived{};
  require_crypto(EVP_KDF_derive(context.get(), derived.data(), derived.size(), settings.data()) == 1);
  return derived;
}

}  // namespace

SealHead make_seal_head(const CopyKey& key, const std::string& name) {
  std::string salt(kSaltBytes, '\0');
  require_crypto(RAND_bytes(octets(salt), static_cast<int>(salt.size())) == 1);
  auto bytes = ByteWriter().raw(kSealMagic).number(kSealFormat).raw(id_bytes(key.id)).raw(salt).text(name).take();
  bytes += ByteWriter().number(crc32c(bytes)).take();
  return {std::move(bytes), key.id, name};
}

SealBegin begin_of(std::string_view bytes) {
  const auto known = std::min(bytes.size(), kSealMagic.size());
  if (bytes.substr(0, known) != kSealMagic.substr(0, known)) {
    return {SealBegin::Kind::other};
  }
  if (known < kSealMagic.size()) {
    return {SealBegin::Kind::unknown, kSealMagic.size()};
  }
  if (bytes.size() < kSealFixedBytes) {
    return {SealBegin::Kind::sealed, kSealFixedBytes};
  }
  const auto name = ByteReader(bytes.substr(kSealFixedBytes - 4)).number<std::uint32_t>();
  return {SealBegin::Kind::sealed, kSealFixedBytes + std::min<std::size_t>(name, kMaxSealedName) + kSumBytes};
}

StoreResult<SealHead> decode_seal_head(std::string_view bytes) {
  const StoreStatus damaged{StoreCode::corrupt, "the head of the encrypted copy is damaged"};
  if (bytes.size() < kSealFixedBytes + kSumBytes) {
    return damaged;
  }
  const auto summed = bytes.substr(0, bytes.size() - kSumBytes);
  if (ByteReader(bytes.substr(summed.size())).number<std::uint32_t>() != crc32c(summed)) {
    return damaged;
  }
  ByteReader reader(summed.substr(kSealMagic.size()));
  if (const auto format = reader.number<std::uint32_t>(); format != kSealFormat) {
    return StoreStatus{StoreCode::mismatch, "the copy is encrypted by format " + std::to_string(format) +
                                                "; this program reads format " + std::to_string(kSealFormat)};
  }
  SealHead head;
  head.bytes = bytes;
  head.key_id = id_text(reader.number<std::uint64_t>());
  reader.raw(kSaltBytes);
  reader.number<std::uint32_t>();
  head.name = reader.rest();
  return head;
}

struct PieceCipher::Context {
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  Context() { require_crypto(cipher != nullptr); }
  ~Context() { EVP_CIPHER_CTX_free(cipher); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

PieceCipher::PieceCipher(Way way, const CopyKey& key, const SealHead& head)
    : context_(std::make_unique<Context>()), piece_(kSealedPiece + kSealTag, '\0') {
  auto own = derive(key, head);
  const bool is_set = EVP_CipherInit_ex(context_->cipher, EVP_aes_256_gcm(), nullptr, own.data(), nullptr,
                                        way == Way::seal ? 1 : 0) == 1;
  OPENSSL_cleanse(own.data(), own.size());
  require_crypto(is_set);
}

PieceCipher::~PieceCipher() = default;

void PieceCipher::next_nonce(bool is_last) {
  const auto nonce = ByteWriter().number(number_).number(std::uint32_t{is_last ? 1U : 0U}).take();
  static_assert(kNonceBytes == sizeof(number_) + sizeof(std::uint32_t));
  require_crypto(EVP_CipherInit_ex(context_->cipher, nullptr, nullptr, nullptr, octets(nonce), -1) == 1);
  ++number_;
}

void PieceCipher::update(std::string_view from, std::size_t size) {
  int made = 0;
  require_crypto(size == 0 ||
                 EVP_CipherUpdate(context_->cipher, octets(piece_), &made, octets(from), static_cast<int>(size)) == 1);
}

std::string_view PieceCipher::seal(std::string_view plain, bool is_last) {
  next_nonce(is_last);
  update(plain, plain.size());
  int made = 0;
  auto* const tag = octets(piece_) + plain.size();
  require_crypto(EVP_CipherFinal_ex(context_->cipher, tag, &made) == 1);
  require_crypto(EVP_CIPHER_CTX_ctrl(context_->cipher, EVP_CTRL_AEAD_GET_TAG, kSealTag, tag) == 1);
  return std::string_view(piece_).substr(0, plain.size() + kSealTag);
}

StoreResult<std::string_view> PieceCipher::open(std::string_view sealed, bool is_last) {
  if (sealed.size() < kSealTag) {
    return StoreStatus{StoreCode::corrupt, "the encrypted copy ends too early"};
  }
  const auto number = number_;
  const auto size = sealed.size() - kSealTag;
  next_nonce(is_last);
  std::string tag(sealed.substr(size));
  require_crypto(EVP_CIPHER_CTX_ctrl(context_->cipher, EVP_CTRL_AEAD_SET_TAG, kSealTag, tag.data()) == 1);
  update(sealed, size);
  int made = 0;
  if (EVP_CipherFinal_ex(context_->cipher, octets(piece_) + size, &made) != 1) {
    return StoreStatus{StoreCode::corrupt, "piece " + std::to_string(number) +
                                               " of the encrypted copy is not as it was written" +
                                               (is_last ? ", or is not its last one" : "")};
  }
  return std::string_view(piece_).substr(0, size);
}

}  // namespace ballast
