// The real module of the cuda backend with the real CUDA runtime, on drivers that cannot serve it.
//
// The runtime asks the driver once in a process, so each case is a process of its own.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <string>

#include "tests/unit/worker/compute/fake_driver.h"
#include "worker/compute/module.h"

namespace ballast {
namespace {

// The fake library has the name that the runtime looks for: once it is loaded, the linker finds no other.
std::string reason_of_loading(const FakeDriver& driver) {
  void* const library = ::dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return ::dlerror();
  }
  reinterpret_cast<SetFakeDriver>(::dlsym(library, "fake_driver_set"))(&driver);
  try {
    load_cuda_backend({CUDA_MODULE}, 0);
  } catch (const BackendUnavailable& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not as unavailable: ") + error.what();
  }
  return "loaded";
}

std::string reason_with(const FakeDriver& driver) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string reason = reason_of_loading(driver);
    const auto written = ::write(ends[1], reason.data(), reason.size());
    ::_exit(written == static_cast<ssize_t>(reason.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string reason;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    reason.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  return reason;
}

TEST_CASE("a driver that is too old") {
  const std::string reason = reason_with({.version = 12040, .init_result = 0});
  CHECK(reason.starts_with("the NVIDIA driver is too old: it is made for CUDA 12.4, this worker for CUDA "));
  CHECK(reason.ends_with("; install a newer driver"));
}

TEST_CASE("a driver whose kernel module is not there") {
  CHECK(reason_with({.version = 0, .init_result = 0}) ==
        "the NVIDIA driver is installed but cannot be used; is its kernel module loaded? `nvidia-smi` says more");
}

TEST_CASE("a driver without a GPU") {
  constexpr int kNoDevice = 100;
  CHECK(reason_with({.version = 99000, .init_result = kNoDevice}) ==
        "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES can hide them)");
}

TEST_CASE("a driver that fails") {
  constexpr int kNotInitialized = 3;
  CHECK(reason_with({.version = 99000, .init_result = kNotInitialized}) ==
        "the NVIDIA driver does not work: initialization error (cudaErrorInitializationError)");
}

}  // namespace
}  // namespace ballast
