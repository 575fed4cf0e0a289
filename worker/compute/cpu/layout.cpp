#include "worker/compute/cpu/layout.h"

namespace ballast::cpu {

Primitive make_reorder(const Context& context, const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::reorder::primitive_desc description(from, to, with_own_scratchpad());
  return Primitive::make<dnnl::reorder>(context, description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

Incoming::Incoming(const Context& context, const dnnl::memory& source, const dnnl::memory::desc& wanted)
    : memory_(source) {
  if (source.get_desc() != wanted) {
    memory_ = dnnl::memory(wanted, context.engine);
    reorder_ = make_reorder(context, source, memory_);
  }
}

void Incoming::refresh() const {
  if (reorder_) {
    reorder_->run();
  }
}

Outgoing::Outgoing(const Context& context, const dnnl::memory& target, const dnnl::memory::desc& wanted)
    : memory_(target) {
  if (target.get_desc() != wanted) {
    memory_ = dnnl::memory(wanted, context.engine);
    reorder_ = make_reorder(context, memory_, target);
  }
}

void Outgoing::deliver() const {
  if (reorder_) {
    reorder_->run();
  }
}

}  // namespace ballast::cpu
