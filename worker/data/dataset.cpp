#include <stdexcept>
#include <string>

#include "worker/data/datasets.h"

namespace ballast {

std::unique_ptr<Dataset> open_dataset(const DataSpec& spec, const std::string& worker_path) {
  if (spec.name == "mnist") {
    return open_mnist(spec, worker_path);
  }
  if (spec.name == "glyphs") {
    return make_glyphs(spec);
  }
  if (spec.name == "none") {
    return make_none(spec);
  }
  throw std::runtime_error("data.name is \"" + spec.name + "\"; known are mnist, glyphs and none");
}

}  // namespace ballast
