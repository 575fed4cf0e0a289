// Keys of CURVE, ZeroMQ's encryption (RFC 26 of ZeroMQ: Curve25519), as the 40 characters of Z85 (RFC 32) that stand
// for their 32 bytes.
#pragma once

#include <string>
#include <string_view>

namespace ballast {

struct KeyPair {
  std::string public_key;  // tells others who somebody is
  std::string secret_key;  // shows that it is he; never logged, never sent
};

// A new one of the system's random bytes. Throws std::runtime_error where ZeroMQ was built without CURVE.
KeyPair make_key_pair();

// Whether it has the form of a key.
bool is_key(std::string_view text);

// The public key that belongs to a secret one, which has the form of a key.
std::string public_key_of(const std::string& secret_key);

}  // namespace ballast
