// Which vectors the processor has. All give the same bits; they differ in speed alone.
#pragma once

#include <cstdint>

namespace ballast {

enum class InstructionSet : std::uint8_t {
  baseline,  // what every processor of the build's kind has (x86-64: 16-byte vectors)
  avx2,      // 32-byte vectors
  avx512,    // 64-byte vectors: AVX-512 F, BW, DQ and VL
};

// "baseline", "avx2" or "avx512".
const char* name_of(InstructionSet set);

// Whether this processor can run it, and this build contains it.
bool supported(InstructionSet set);

// The widest that is supported. Thread-safe.
InstructionSet detected();

}  // namespace ballast
