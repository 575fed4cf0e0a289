// What layers are called elsewhere (PyTorch, Keras, ONNX, papers), and what does the same here.
#pragma once

#include <string>
#include <string_view>

namespace ballast {

// What to write in model.layers for a layer that goes by `name` elsewhere, as a clause for a message: "write
// 'batch_norm'". Capitals, blanks, `_`, `-` and a module's name before a dot (`nn.BatchNorm2d`) make no difference.
// Empty for a name that nobody knows.
std::string foreign_layer_hint(std::string_view name);

}  // namespace ballast
