#include "cli/before/gpus.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include "tests/unit/worker/compute/fake_driver.h"

namespace ballast {
namespace {

using Options = std::vector<std::string>;

std::uint32_t counted_with(const FakeDriver& driver) {
  void* const library = ::dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  reinterpret_cast<SetFakeDriver>(::dlsym(library, "fake_driver_set"))(&driver);
  return count_gpus(FAKE_DRIVER);
}

TEST_CASE("as many GPUs are counted as the driver shows") {
  CHECK(counted_with({.version = 13000, .init_result = 0, .devices = 3}) == 3);
  CHECK(counted_with({.version = 13000, .init_result = 0, .devices = 0}) == 0);
}

TEST_CASE("without a driver, or with one that cannot be used, there are none") {
  constexpr int kNoDevice = 100;
  CHECK(counted_with({.version = 13000, .init_result = kNoDevice, .devices = 3}) == 0);
  CHECK(count_gpus("libcuda-that-is-not-there.so.1") == 0);
  CHECK(count_gpus("libc.so.6") == 0);  // a library that is no driver
}

TEST_CASE("workers take GPUs in turn") {
  CHECK(device_options("auto", 0, 2) == Options{"--backend", "auto", "--device", "0"});
  CHECK(device_options("cuda", 3, 2) == Options{"--backend", "cuda", "--device", "1"});
  CHECK(device_options("auto", 7, 8) == Options{"--backend", "auto", "--device", "7"});
}

TEST_CASE("workers that take no GPU are told of no device") {
  CHECK(device_options("cpu", 1, 2) == Options{"--backend", "cpu"});
  CHECK(device_options("auto", 1, 0) == Options{"--backend", "auto"});
  CHECK(device_options("cuda", 1, 0) == Options{"--backend", "cuda"});
}

TEST_CASE("who takes which is told") {
  CHECK(gpus_text(0).empty());
  CHECK(gpus_text(1) == "1 GPU is found, for all workers; their logs tell what they compute on");
  CHECK(gpus_text(4) == "4 GPUs are found: worker i takes GPU i modulo 4; their logs tell what they compute on");
}

}  // namespace
}  // namespace ballast
