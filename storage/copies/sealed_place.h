// A place whose objects are encrypted on the way to another one, and decrypted on the way back (storage/copies/seal.h).
//
// Names stay as they are. Without a key objects pass as they are, and an encrypted one is not read. With one, nothing
// that is not encrypted is read, unless `accept_plain` says so. Either way that is `no_key`, with the remedy; so is an
// object of a key that is not in the file. Sizes and checksums of what passes are of the plain bytes.
#pragma once

#include <memory>

#include "storage/copies/copy_keys.h"
#include "storage/copies/place.h"

namespace ballast {

std::unique_ptr<CopyPlace> make_sealed_place(std::unique_ptr<CopyPlace> place, CopyKeys keys,
                                             bool accept_plain = false);

}  // namespace ballast
