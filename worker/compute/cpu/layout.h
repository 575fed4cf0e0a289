// The same tensor in two layouts: the one it has, and the one a primitive works fastest on.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>

#include "worker/compute/cpu/context.h"
#include "worker/compute/cpu/primitive.h"

namespace ballast::cpu {

Primitive make_reorder(const Context& context, const dnnl::memory& from, const dnnl::memory& to);

// What a primitive reads: the source itself, or a copy in the wanted layout that refresh() brings up to date.
class Incoming {
 public:
  Incoming() = default;
  Incoming(const Context& context, const dnnl::memory& source, const dnnl::memory::desc& wanted);

  [[nodiscard]] const dnnl::memory& memory() const { return memory_; }
  void refresh() const;

 private:
  dnnl::memory memory_;
  std::optional<Primitive> reorder_;
};

// What a primitive writes: the target itself, or a buffer that deliver() brings into the target.
class Outgoing {
 public:
  Outgoing() = default;
  Outgoing(const Context& context, const dnnl::memory& target, const dnnl::memory::desc& wanted);

  [[nodiscard]] const dnnl::memory& memory() const { return memory_; }
  void deliver() const;

 private:
  dnnl::memory memory_;
  std::optional<Primitive> reorder_;
};

}  // namespace ballast::cpu
