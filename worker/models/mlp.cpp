#include <string>

#include "worker/models/networks.h"

namespace ballast {

void record_mlp(Tape& tape, const std::vector<std::uint32_t>& hidden, std::uint32_t classes) {
  Tape::Value x = tape.input();
  std::size_t layer = 1;
  for (const std::uint32_t units : hidden) {
    x = tape.relu(tape.linear(x, "fc" + std::to_string(layer), units));
    ++layer;
  }
  tape.softmax_cross_entropy(tape.linear(x, "fc" + std::to_string(layer), classes));
}

}  // namespace ballast
