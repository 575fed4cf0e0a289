#include "common/job/foreign_layers.h"

#include <algorithm>
#include <array>

#include "common/job/layer_kinds.h"

namespace ballast {
namespace {

struct ForeignLayer {
  std::string_view names;  // in small letters without `_` and `-`, parted by blanks
  std::string_view hint;
};

constexpr std::array kForeignLayers = {
    ForeignLayer{"softmax logsoftmax softmax2d softmin",
                 "softmax is a part of the loss (softmax_cross_entropy), and `ballast predict` gives probabilities; "
                 "leave it out and end the network with a linear layer"},
    ForeignLayer{"flatten flattenlayer",
                 "a linear layer reads all values of an image as they are, so leave it out; elsewhere 'reshape' alone "
                 "makes one vector of them"},
    ForeignLayer{"crossentropy crossentropyloss categoricalcrossentropy nllloss softmaxcrossentropy "
                 "softmaxcrossentropyloss bce bceloss bcewithlogits bcewithlogitsloss binarycrossentropy logisticloss "
                 "mse mseloss meansquarederror squarederror squarederrorofinput loss",
                 "it is a loss, which follows from the data's labels or is named in model.loss"},
    ForeignLayer{"dense fc fullyconnected innerproduct affine gemm matmul linearlayer lazylinear", "write 'linear'"},
    ForeignLayer{"conv convolution conv2dlayer convolution2d conv2dlayers lazyconv2d", "write 'conv2d'"},
    ForeignLayer{"convolution1d", "write 'conv1d'"},
    ForeignLayer{"depthwiseconv depthwiseconv2d dwconv groupconv groupedconv2d",
                 "write 'conv2d' with as many groups as channels"},
    ForeignLayer{"separableconv separableconv2d",
                 "write two layers: 'conv2d' with as many groups as channels, then 'conv2d' with kernel 1"},
    ForeignLayer{"convtranspose convtranspose2d conv2dtranspose convolutiontranspose transposedconv transposeconv2d "
                 "deconv deconv2d deconvolution upconv upconvolution",
                 "write 'transposed_conv2d'"},
    ForeignLayer{"upsample upsampling upsampling2d pixelshuffle interpolate",
                 "there is none; 'transposed_conv2d' makes images larger"},
    ForeignLayer{"bn bn1d bn2d batchnorm1d batchnorm2d batchnormalization batchnormalisation", "write 'batch_norm'"},
    ForeignLayer{"ln layernormalization layernormalisation", "write 'layer_norm'"},
    ForeignLayer{"rmsnorm", "there is none; 'layer_norm' is the nearest"},
    ForeignLayer{"gn groupnormalization groupnormalisation", "write 'group_norm'"},
    ForeignLayer{"instancenorm instancenorm1d instancenorm2d instancenormalization",
                 "write 'group_norm' with as many groups as channels"},
    ForeignLayer{"maxpool maxpooling maxpooling2d maxpool2dlayer", "write 'max_pool2d'"},
    ForeignLayer{"avgpool avgpool2d averagepool averagepooling averagepooling2d meanpool meanpooling",
                 "write 'average_pool2d'"},
    ForeignLayer{"gap globalavgpool globalavgpool2d globalaveragepool globalaveragepool2d globalaveragepooling "
                 "globalaveragepooling2d globalpool adaptiveavgpool adaptiveavgpool2d adaptiveaveragepool2d",
                 "write 'global_pool2d'"},
    ForeignLayer{"globalmaxpool globalmaxpool2d globalmaxpooling globalmaxpooling2d adaptivemaxpool2d",
                 "write 'global_pool2d: max'"},
    ForeignLayer{"globalaveragepooling1d globalavgpool1d adaptiveavgpool1d", "write 'step_pool: average'"},
    ForeignLayer{"globalmaxpooling1d globalmaxpool1d adaptivemaxpool1d", "write 'step_pool: max'"},
    ForeignLayer{"relu6 relun clippedrelu", "there is none with a bound above; write 'relu'"},
    ForeignLayer{"lrelu leaky prelu rrelu", "write 'leaky_relu', whose slope is a setting and not trained"},
    ForeignLayer{"elu selu celu silu swish mish softplus softsign hardswish hardsigmoid hardtanh glu swiglu geglu "
                 "activation nonlinearity",
                 "there is none; the activations are relu, leaky_relu, gelu, tanh and sigmoid"},
    ForeignLayer{"sigm logistic", "write 'sigmoid'"},
    ForeignLayer{"dropout1d dropout2d spatialdropout spatialdropout2d alphadropout droppath stochasticdepth",
                 "write 'dropout', which leaves out single values"},
    ForeignLayer{"selfattention multiheadattention multihead mha scaleddotproductattention",
                 "write 'attention', which reads queries, keys and values by `from`"},
    ForeignLayer{"concat cat merge", "write 'concatenate' with `from`"},
    ForeignLayer{"sum addition plus residual skip shortcut skipconnection", "write 'add' with `from`"},
    ForeignLayer{"view unflatten", "write 'reshape'"},
    ForeignLayer{"rnn simplernn recurrent", "write 'gru' or 'lstm'"},
    ForeignLayer{"bilstm bidirectional bigru", "write 'lstm' or 'gru' with `both_directions: true`"},
    ForeignLayer{"embeddingbag embed wordembedding lookup lookuptable", "write 'embedding'"},
    ForeignLayer{"posembed posembedding positionalembedding positionalencoding posenc", "write 'position_embedding'"},
    ForeignLayer{"zeropadding zeropadding2d zeropad2d pad padding",
                 "padding is a setting of convolutions and poolings"},
    ForeignLayer{"input inputlayer", "the first layer reads the example as it is; leave it out"},
    ForeignLayer{"output identity sequential block noop", "it computes nothing; leave it out"},
};

// Without what differs between programs: capitals, marks between words, a module's name.
std::string bare(std::string_view name) {
  const auto dot = name.rfind('.');
  std::string text;
  for (const char c : dot == std::string_view::npos ? name : name.substr(dot + 1)) {
    if (c != '_' && c != '-' && c != ' ') {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

bool holds_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) {
      return true;
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::string foreign_layer_hint(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  const auto word = name.size() > kLongest ? std::string() : bare(name);
  if (word.empty()) {
    return {};
  }
  for (const auto& kind : layer_kinds()) {
    if (bare(kind.name) == word) {
      return "write '" + kind.name + "'";
    }
  }
  const auto* const found =
      std::ranges::find_if(kForeignLayers, [&](const ForeignLayer& layer) { return holds_word(layer.names, word); });
  return found == kForeignLayers.end() ? std::string() : std::string(found->hint);
}

}  // namespace ballast
