// A module that the loader may meet in the place of the cuda backend; what kind is said when it is compiled.
#include "worker/compute/module.h"

// Library of its own, which may be missing.
#ifdef NEEDS_LIBRARY
extern "C" int needed();
#endif

#ifndef NO_ENTRY
extern "C" [[gnu::visibility("default")]] const ballast::BackendModule* ballast_backend_module() {
  static const ballast::BackendModule module = {
#ifdef OTHER_BUILD
      ballast::kBackendInterface + 1,
#else
      ballast::kBackendInterface,
#endif
      [](std::uint32_t device, ballast::Precision precision) -> std::unique_ptr<ballast::Backend> {
#ifdef NEEDS_LIBRARY
        device += static_cast<std::uint32_t>(needed());
#endif
        throw ballast::BackendUnavailable("device " + std::to_string(device) + " is a fake" + ", with " +
                                          ballast::name_of(precision));
      }};
  return &module;
}
#endif
