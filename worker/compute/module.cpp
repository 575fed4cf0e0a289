#include "worker/compute/module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ballast {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "ballast-cuda.so";
constexpr const char* kEntry = "ballast_backend_module";

std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "no reason was given" : text;
}

// Loading the module takes tens of milliseconds and maps a gigabyte of libraries: not where there is no driver anyway.
void require_driver(const std::string& library) {
  void* const driver = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) {
    throw BackendUnavailable("no NVIDIA driver is installed: " + library + " is not found");
  }
  ::dlclose(driver);
}

// dlopen's reason begins with the name of the file that it could not load.
std::string why_not_loaded(const std::string& module, const std::string& reason) {
  const std::string library = reason.substr(0, reason.find(':'));
  const std::string where =
      library + " is not found; if it is not in a standard place, name its folder in LD_LIBRARY_PATH";
  if (reason.find("cannot open shared object file") != std::string::npos && library != module) {
    if (library.starts_with("libcudnn")) {
      return "cuDNN is missing: " + where;
    }
    if (library.starts_with("libcublas")) {
      return "cuBLAS is missing: " + where;
    }
    return "a library that the cuda backend needs is missing: " + where;
  }
  return "the cuda backend cannot be loaded: " + reason;
}

const BackendModule& load(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw BackendUnavailable(why_not_loaded(path, last_error()));
  }
  using Entry = const BackendModule* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, kEntry));
  if (entry == nullptr) {
    throw BackendUnavailable(path + " is not a module of Ballast: " + last_error());
  }
  const BackendModule* const module = entry();
  if (module->interface != kBackendInterface) {
    throw BackendUnavailable(path + " is of another build of Ballast (interface " + std::to_string(module->interface) +
                             ", this program has " + std::to_string(kBackendInterface) +
                             "): install program and module together");
  }
  return *module;
}

}  // namespace

CudaFiles find_cuda_files() {
  if (const char* named = std::getenv("BALLAST_CUDA_MODULE"); named != nullptr && *named != '\0') {
    return {named};
  }
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = folder.parent_path() / "lib" / "ballast" / kFile;
  return {fs::exists(installed, error) ? installed : folder / kFile};
}

std::unique_ptr<Backend> load_cuda_backend(const CudaFiles& files, std::uint32_t device, Precision precision) {
  std::error_code error;
  if (!fs::exists(files.module, error)) {
    throw BackendUnavailable("this build of Ballast has no cuda backend: " + files.module + " is not there");
  }
  require_driver(files.driver);
  return load(fs::absolute(files.module)).make(device, precision);  // a bare name would be looked for elsewhere
}

}  // namespace ballast
