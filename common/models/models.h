// The built-in networks, each a short function over a GraphBuilder. docs/models.md tells of each.
//
// All throw ModelMisfit with a sentence for a user when examples or settings do not fit, or the std::invalid_argument
// of a GraphBuilder, which names the layer. Those for images and vectors take any label that an example has as a whole,
// and end in the loss that is usual for it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/network/graph.h"

namespace ballast {

// fc1 - relu - ... - fcN: one layer for each entry of `hidden` and one for the classes.
Graph mlp(const ExampleShape& example, const std::vector<std::uint32_t>& hidden);

// The modern LeNet-5: that of Y. LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, with
// ReLU for its sigmoids, max pooling for its trained averages, every map of conv2 connected to all six maps before it,
// and softmax for its radial basis functions.
Graph lenet5(const ExampleShape& example);

// G. E. Hinton and R. R. Salakhutdinov, "Reducing the Dimensionality of Data with Neural Networks", 2006, with ReLU:
// linear layers of `hidden` units down to the code, and up again to the example, which they are to give back.
Graph autoencoder(const ExampleShape& example, const std::vector<std::uint32_t>& hidden);

// The same with convolutions that halve height and width, and transposed ones that double them again.
Graph conv_autoencoder(const ExampleShape& example, const std::vector<std::uint32_t>& channels);

// K. Simonyan and A. Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", 2014,
// configuration D, as it is published for CIFAR: batch normalization behind each of the 13 convolutions, and one linear
// layer behind them. Convolutions have no bias, which the normalization would cancel.
Graph vgg16(const ExampleShape& example);

// K. He et al., "Deep Residual Learning for Image Recognition", 2015, section 4.2: 6n + 2 layers for CIFAR, n blocks
// in each of three stages of 16, 32 and 64 channels. Where channels double, the shortcut is a 1 x 1 convolution with
// batch normalization (the paper's option B): no layer pads channels, as option A does.
Graph resnet_of_cifar(const ExampleShape& example, std::uint32_t blocks_of_a_stage);

// The same paper's ResNet-50, with the stride in the 3 x 3 convolution, parameter for parameter torchvision's.
Graph resnet50(const ExampleShape& example);

// For 64 x 64 faces: for each entry of `channels` twice a 3 x 3 convolution, batch normalization and ReLU, then
// pooling and half of the dropout; a hidden layer of 512 units with dropout, and one for the classes.
Graph simpsons_cnn(const ExampleShape& example, const std::vector<std::uint32_t>& channels, float dropout);

struct TextCnn {
  std::uint32_t embedding = 0;        // units of each token's vector
  std::vector<std::uint32_t> widths;  // steps that the convolutions see
  std::uint32_t filters = 0;          // channels of each
  float dropout = 0;
};
// Y. Kim, "Convolutional Neural Networks for Sentence Classification", 2014. Texts are padded by half a width at both
// ends, so that the shortest have a window too.
Graph text_cnn(const ExampleShape& example, const TextCnn& size);

// A bidirectional LSTM over the tokens' vectors; of each of its units the largest value over the steps, dropout, and a
// layer for the classes.
Graph text_lstm(const ExampleShape& example, std::uint32_t embedding, std::uint32_t units, float dropout);

// K. S. Tai, R. Socher and C. D. Manning, "Improved Semantic Representations From Tree-Structured Long Short-Term
// Memory Networks", 2015, section 4.1: the constituency tree's LSTM, with a class at each node.
Graph tree_lstm(const ExampleShape& example, std::uint32_t embedding, std::uint32_t units, float dropout);

struct TransformerSize {
  std::uint32_t width = 0;  // channels of each step
  std::uint32_t depth = 0;  // blocks, one on the other
  std::uint32_t heads = 0;  // divide width
  float dropout = 0;
};

// A. Vaswani et al., "Attention Is All You Need", 2017: the encoder, with learnt positions, normalization before each
// part, GELU, and the mean over the steps for the classes.
Graph transformer(const ExampleShape& example, const TransformerSize& size);

// A. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019: the same blocks, causal, whose output
// the embedding's own weights turn into the next token.
Graph gpt(const ExampleShape& example, const TransformerSize& size);

}  // namespace ballast
