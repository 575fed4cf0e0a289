// A oneDNN primitive together with its arguments, settled once and run many times.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <utility>
#include <vector>

#include "worker/compute/cpu/context.h"

namespace ballast::cpu {

// Every primitive works in memory of its own that is allocated here, not at each run.
inline dnnl::primitive_attr with_own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

class Primitive {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;

  Primitive() = default;
  // `Description` is a primitive_desc made with with_own_scratchpad(). Memories are shared, not copied: setting the
  // address of one that was handed in here changes what the next run works on.
  template <typename Made, typename Description>
  static Primitive make(const Context& context, const Description& description, Arguments arguments) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, dnnl::memory(description.scratchpad_desc(), context.engine));
    return Primitive(Made(description), context.stream, std::move(arguments));
  }

  void run() const;

 private:
  Primitive(dnnl::primitive primitive, dnnl::stream stream, Arguments arguments);

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  Arguments owners_;  // keeps alive what arguments_ points to
  std::vector<dnnl_exec_arg_t> arguments_;
};

}  // namespace ballast::cpu
