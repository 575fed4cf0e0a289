#include "common/keys/key.h"

#include <zmq.h>

#include <array>
#include <stdexcept>

namespace ballast {

namespace {

constexpr std::size_t kKeyCharacters = 40;
constexpr std::size_t kKeyBytes = 32;
using KeyText = std::array<char, kKeyCharacters + 1>;

}  // namespace

KeyPair make_key_pair() {
  KeyText public_key{};
  KeyText secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) {
    throw std::runtime_error("the ZeroMQ library of this system has no encryption (CURVE): install one that has");
  }
  return {public_key.data(), secret_key.data()};
}

// zmq_z85_decode takes what is no Z85, of whatever length, for a key of other bytes: the text must come back as it was.
bool is_key(std::string_view text) {
  if (text.size() != kKeyCharacters) {
    return false;
  }
  const std::string terminated(text);
  std::array<std::uint8_t, kKeyBytes> bytes{};
  KeyText again{};
  return zmq_z85_decode(bytes.data(), terminated.c_str()) != nullptr &&
         zmq_z85_encode(again.data(), bytes.data(), bytes.size()) != nullptr && text == again.data();
}

std::string public_key_of(const std::string& secret_key) {
  KeyText public_key{};
  if (zmq_curve_public(public_key.data(), secret_key.c_str()) != 0) {
    throw std::runtime_error("the ZeroMQ library of this system has no encryption (CURVE): install one that has");
  }
  return public_key.data();
}

}  // namespace ballast
