#include "worker/compute/cpu/primitive.h"

namespace ballast::cpu {

Primitive::Primitive(dnnl::primitive primitive, dnnl::stream stream, Arguments arguments)
    : primitive_(std::move(primitive)), stream_(std::move(stream)), owners_(std::move(arguments)) {
  for (const auto& [name, memory] : owners_) {
    arguments_.push_back({name, memory.get()});
  }
}

// The C interface: the C++ one builds the list of arguments anew at every call.
void Primitive::run() const {
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
  dnnl::error::wrap_c_api(status, "oneDNN could not execute a primitive");
}

}  // namespace ballast::cpu
