#include "common/numeric/sha256.h"

#include <doctest/doctest.h>

#include <string>

namespace ballast {
namespace {

// FIPS 180-2, appendix B.
TEST_CASE("sha-256 gives the standard's known answers") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces give the digest of the whole, and reading it does not end it") {
  Sha256 digest;
  digest.update("a").update("b");
  CHECK(digest.hex() == sha256_hex("ab"));
  digest.update("c");
  CHECK(digest.hex() == sha256_hex("abc"));
}

}  // namespace
}  // namespace ballast
