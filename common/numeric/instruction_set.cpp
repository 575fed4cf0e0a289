#include "common/numeric/instruction_set.h"

namespace ballast {
namespace {

#ifdef BALLAST_X86_VECTORS
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

InstructionSet widest() {
  if (has_avx512()) {
    return InstructionSet::avx512;
  }
  return has_avx2() ? InstructionSet::avx2 : InstructionSet::baseline;
}

}  // namespace

const char* name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::baseline:
      break;
  }
  return "baseline";
}

bool supported(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx2:
      return has_avx2();
    case InstructionSet::avx512:
      return has_avx512();
    case InstructionSet::baseline:
      break;
  }
  return true;
}

InstructionSet detected() {
  static const InstructionSet set = widest();
  return set;
}

}  // namespace ballast
