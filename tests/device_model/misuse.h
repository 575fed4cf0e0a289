// A CUDA device in software, so that the cuda backend can be tested where there is no GPU.
//
// It stands in for as much of the CUDA runtime, cuBLAS and cuDNN as worker/compute/cuda calls. The backend's sources
// are compiled unchanged and linked with it into a module of their own, which tests load as they load the real one. The
// kernels are those of its .cu files, compiled as C++ (launch.h).
//
// What it models
//  - Two devices, each with memory of its own. What is fresh is filled with not-a-numbers, what is freed as well.
//  - Streams and events (streams.h). Work that is queued runs when the order says, which is an adversary: as late as
//    possible, at once, or at random by a seed. So whoever reads what nothing waits for reads it too early or too late.
//  - Copies to and from pageable memory are done when the call returns or has staged them, those of pinned memory
//  later.
//  - Warps run in lockstep from shuffle to shuffle; threads and blocks one after the other, at random from either end.
//  - Sums of products in double, rounded once. TF32 is float32 here; bfloat16 is rounded to as the real ones do.
//
// What it does not allow: misuse() ends the program with a sentence. Memory that a call names lies within one
// allocation of the right device; leading dimensions, shapes and types fit; results do not overlap factors; a workspace
// has the size that was asked for, and nothing is written past the end of an allocation. What is freed or destroyed is
// not in use, a library is called on its own device's thread, and at the end of the program nothing is left.
//
// What it cannot show: speed; how the libraries round and which algorithms they have; what real hardware does within
// a warp, between threads that race, or with memory that is only nearly right (alignment).
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace ballast::device_model {

// Ends the program: "device model: FUNCTION: WHAT".
[[noreturn]] void misuse(std::string_view function, const std::string& what);

// "0x55d0c0 with 400 bytes".
std::string name_range(const void* begin, std::size_t bytes);

// Every call from outside holds it: there is one world for all threads.
class Call {
 public:
  Call();

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace ballast::device_model
