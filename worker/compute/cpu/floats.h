// The floats of a memory of oneDNN's.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <cstddef>

namespace ballast::cpu {

inline float* floats(const dnnl::memory& memory) { return static_cast<float*>(memory.get_data_handle()); }

// With the padding of blocked layouts.
inline std::size_t floats_in(const dnnl::memory& memory) { return memory.get_desc().get_size() / sizeof(float); }

}  // namespace ballast::cpu
