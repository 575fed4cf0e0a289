// Which backend is chosen, and in which words it is said what is missing.
#include "worker/compute/choose.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPresent = "libc.so.6";  // stands for the driver

fs::path fake(const std::string& kind) { return fs::path(FAKE_MODULES) / ("fake-" + kind + ".so"); }

std::string reason(const CudaFiles& files, std::uint32_t device = 0) {
  try {
    load_cuda_backend(files, device);
  } catch (const BackendUnavailable& error) {
    return error.what();
  }
  return "loaded";
}

TEST_CASE("no module") {
  CHECK(reason({"/nowhere/ballast-cuda.so", kPresent}) ==
        "this build of Ballast has no cuda backend: /nowhere/ballast-cuda.so is not there");
}

TEST_CASE("no driver") {
  CHECK(reason({fake("plain"), "libnothing.so.1"}) == "no NVIDIA driver is installed: libnothing.so.1 is not found");
}

TEST_CASE("a missing library") {
  const std::string hint = " is not found; if it is not in a standard place, name its folder in LD_LIBRARY_PATH";
  CHECK(reason({fake("cudnn"), kPresent}) == "cuDNN is missing: libcudnn.so.99" + hint);
  CHECK(reason({fake("cublas"), kPresent}) == "cuBLAS is missing: libcublas.so.99" + hint);
  CHECK(reason({fake("other"), kPresent}) == "a library that the cuda backend needs is missing: libother.so.99" + hint);
}

TEST_CASE("a file that is no module") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "ballast-cuda.so";
  std::ofstream(file) << "this is no library at all, though it is long enough to be looked into for an ELF header.";
  CHECK(reason({file, kPresent}).starts_with("the cuda backend cannot be loaded: " + file.string() + ": "));
  CHECK(reason({fake("no-entry"), kPresent}).starts_with(fake("no-entry").string() + " is not a module of Ballast: "));
}

TEST_CASE("a module of another build") {
  const auto here = std::to_string(kBackendInterface);
  const auto there = std::to_string(kBackendInterface + 1);
  CHECK(reason({fake("other-build"), kPresent}) ==
        fake("other-build").string() + " is of another build of Ballast (interface " + there + ", this program has " +
            here + "): install program and module together");
}

TEST_CASE("what a module says of its devices comes through") {
  CHECK(reason({fake("plain"), kPresent}, 5) == "device 5 is a fake, with float32");
}

struct Chosen {
  explicit Chosen(const BackendRequest& request)
      : backend(make_backend(request, {fake("plain"), kPresent}, [this](const auto& text) { said.push_back(text); })) {}
  std::vector<std::string> said;
  std::unique_ptr<Backend> backend;
};

TEST_CASE("the cpu is the cpu") {
  const Chosen chosen({"cpu", 0, 1});
  CHECK(chosen.backend->description() == "the cpu (oneDNN, 1 thread)");
  CHECK(chosen.said == std::vector<std::string>{"computes on the cpu (oneDNN, 1 thread)"});
}

TEST_CASE("auto falls back to the cpu and says why") {
  const Chosen chosen({"auto", 2, 2});
  CHECK(chosen.said == std::vector<std::string>{"no GPU is used: device 2 is a fake, with float32",
                                                "computes on the cpu (oneDNN, 2 threads)"});
}

TEST_CASE("another precision than float32 is for GPUs, and the cpu says so") {
  const std::string computes = "computes on the cpu (oneDNN, 1 thread)";
  for (const Precision precision : {Precision::tf32, Precision::bfloat16}) {
    const std::string name = name_of(precision);
    const std::string warning =
        "the job asks for precision " + name +
        ", which the cpu does not have: it computes in float32, and its bits differ from a GPU's";
    CHECK(Chosen({"cpu", 0, 1, precision}).said == std::vector{warning, computes});
    CHECK(Chosen({"auto", 0, 1, precision}).said ==
          std::vector{"no GPU is used: device 0 is a fake, with " + name, warning, computes});
  }
}

TEST_CASE("precisions are known by the names that job files use") {
  CHECK(precision_named("float32") == Precision::float32);
  CHECK(precision_named("tf32") == Precision::tf32);
  CHECK(precision_named("bfloat16") == Precision::bfloat16);
  CHECK_THROWS_WITH_AS(precision_named("half"), doctest::Contains("'half' is unknown"), std::invalid_argument);
}

TEST_CASE("cuda does not fall back") { CHECK_THROWS_AS(Chosen({"cuda", 0, 1}), BackendUnavailable); }

TEST_CASE("an unknown backend") {
  CHECK_THROWS_WITH_AS(Chosen({"tpu", 0, 1}), "backend: 'tpu' is unknown; choose auto, cpu or cuda",
                       std::invalid_argument);
}

TEST_CASE("where the module is looked for") {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  ::unsetenv("BALLAST_CUDA_MODULE");
  CHECK(find_cuda_files().module == folder / "ballast-cuda.so");
  ::setenv("BALLAST_CUDA_MODULE", "/elsewhere/module.so", 1);
  CHECK(find_cuda_files().module == "/elsewhere/module.so");
  ::unsetenv("BALLAST_CUDA_MODULE");
}

}  // namespace
}  // namespace ballast
