// Verified FlatBuffers tables to plain values.
#pragma once

#include "common/wire/wire.h"

namespace ballast::schema {
struct Envelope;
}

namespace ballast::wire {

// `envelope` must have passed the FlatBuffers verifier in a buffer aligned to 8 bytes. Bounds lists and strings before
// copying them and checks what strings hold; ranges of numbers are check()'s.
Decoded read(const schema::Envelope& envelope);

}  // namespace ballast::wire
