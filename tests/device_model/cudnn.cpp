// cuDNN, as far as the backend calls it: dense NCHW, convolution in two dimensions by its definition, biases.
#include <cudnn.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/device_model/handles.h"
#include "tests/device_model/libraries.h"
#include "tests/device_model/misuse.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  ballast::device_model::Type type = {};
  std::size_t n = 0;
  std::size_t c = 0;
  std::size_t h = 0;
  std::size_t w = 0;

  [[nodiscard]] std::size_t elements() const { return n * c * h * w; }
  [[nodiscard]] std::size_t bytes() const { return elements() * size_of(type); }
  [[nodiscard]] std::size_t channel_of(std::size_t element) const { return element / (h * w) % c; }
};
// n outputs of c inputs each.
struct cudnnFilterStruct : cudnnTensorStruct {};
// Along one side.
struct Sliding {
  std::size_t padding = 0;
  std::size_t stride = 1;
  std::size_t dilation = 1;

  // Wraps around in front of the input.
  [[nodiscard]] std::size_t place(std::size_t output, std::size_t tap) const {
    return output * stride + tap * dilation - padding;
  }
  [[nodiscard]] std::size_t outputs(std::size_t inputs, std::size_t taps) const {
    return (inputs + 2 * padding - (dilation * (taps - 1) + 1)) / stride + 1;
  }
};
struct cudnnConvolutionStruct {
  Sliding h;
  Sliding w;
  std::size_t groups = 1;
};

namespace ballast::device_model {
namespace {

Handles<cudnnContext>& cudnn_handles() {
  static Handles<cudnnContext> all("handles of cuDNN");
  return all;
}
Handles<cudnnTensorStruct>& tensors() {
  static Handles<cudnnTensorStruct> all("descriptors of tensors");
  return all;
}
Handles<cudnnFilterStruct>& filters() {
  static Handles<cudnnFilterStruct> all("descriptors of filters");
  return all;
}
Handles<cudnnConvolutionStruct>& convolutions() {
  static Handles<cudnnConvolutionStruct> all("descriptors of convolutions");
  return all;
}

Scale scale_of(const void* alpha, const void* beta) {
  return {*static_cast<const float*>(alpha), *static_cast<const float*>(beta)};
}

Type type_of(const char* function, cudnnDataType_t type) {
  if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_BFLOAT16) {
    misuse(function, "the model knows float32 and bfloat16 only");
  }
  return type == CUDNN_DATA_FLOAT ? Type::float32 : Type::bfloat16;
}

void describe(const char* function, cudnnTensorStruct& descriptor, cudnnTensorFormat_t format, cudnnDataType_t type,
              const std::array<int, 4>& sizes) {
  if (format != CUDNN_TENSOR_NCHW) {
    misuse(function, "the model knows NCHW only");
  }
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(sizes[i]); };
  descriptor.type = type_of(function, type);
  descriptor.n = size(0);
  descriptor.c = size(1);
  descriptor.h = size(2);
  descriptor.w = size(3);
}

enum class Pass : std::size_t { forward = 1, backward_input = 2, backward_weights = 3 };

struct Convolution {
  cudnnTensorStruct x;
  cudnnFilterStruct weights;
  cudnnConvolutionStruct how;
  cudnnTensorStruct y;

  // As large as nobody else would make it, and with some shapes none at all.
  [[nodiscard]] std::size_t workspace(Pass pass) const {
    return pass == Pass::backward_input && x.c % 2 == 1 ? 0 : x.n * 16 * static_cast<std::size_t>(pass) + y.c * 4;
  }

  // Calls visit(x, weight, y) with the places of all factors and sums, padding left out. Rows wrap around above x.
  template <typename Visit>
  void for_each_product(const Visit& visit) const {
    for (std::size_t y_row = 0; y_row < y.n * y.c * y.h; ++y_row) {
      const std::size_t example = y_row / (y.c * y.h);
      const std::size_t to = y_row / y.h % y.c;
      const std::size_t first = to / (y.c / how.groups) * weights.c;
      for (std::size_t from = 0; from < weights.c; ++from) {
        for (std::size_t kh = 0; kh < weights.h; ++kh) {
          const std::size_t h = how.h.place(y_row % y.h, kh);
          if (h < x.h) {
            for_each_in_row(((example * x.c + first + from) * x.h + h) * x.w,
                            ((to * weights.c + from) * weights.h + kh) * weights.w, y_row * y.w, visit);
          }
        }
      }
    }
  }

 private:
  // Of one row of each, which begin there. Columns wrap around left of x.
  template <typename Visit>
  void for_each_in_row(std::size_t x_row, std::size_t weight_row, std::size_t y_row, const Visit& visit) const {
    for (std::size_t kw = 0; kw < weights.w; ++kw) {
      for (std::size_t ow = 0; ow < y.w; ++ow) {
        const std::size_t w = how.w.place(ow, kw);
        if (w < x.w) {
          visit(x_row + w, weight_row + kw, y_row + ow);
        }
      }
    }
  }
};

// What fits together.
Convolution look_up(const char* function, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t weights,
                    cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t y) {
  const Convolution all{tensors().at(function, x), filters().at(function, weights), convolutions().at(function, how),
                        tensors().at(function, y)};
  if (all.x.c != all.weights.c * all.how.groups || all.y.c != all.weights.n || all.y.c % all.how.groups != 0 ||
      all.x.n != all.y.n || all.y.h != all.how.h.outputs(all.x.h, all.weights.h) ||
      all.y.w != all.how.w.outputs(all.x.w, all.weights.w)) {
    misuse(function, "the shapes of input, weights and output do not fit");
  }
  if (all.x.type != all.weights.type || all.x.type != all.y.type) {
    misuse(function, "input, weights and output are not of one type");
  }
  return all;
}

struct Workspace {
  void* begin;
  std::size_t bytes;

  void spoil() const {
    if (bytes > 0) {
      std::memset(begin, 0xFF, bytes);
    }
  }
};

// The real one takes a larger one as well, but may then take another way to its results.
void add_workspace(const char* function, Operands& operands, const Workspace& given, std::size_t asked_for) {
  if (given.bytes != asked_for) {
    misuse(function, "the workspace is " + name_range(given.begin, given.bytes) + ", " + std::to_string(asked_for) +
                         " bytes were asked for");
  }
  if (asked_for > 0) {
    operands.writes("the workspace", given.begin, given.bytes);
  }
}

// One of a product's three tensors.
struct Values {
  const char* name;
  const void* begin;
  const cudnnTensorStruct& shape;
};

struct Result {
  const char* name;
  void* begin;
  const cudnnTensorStruct& shape;
  Scale scale;
};

// Queues result = the sums of a * b over the products, of which `pick` says (by the places of x, weight and y) where in
// result, a and b they are.
template <typename Pick>
cudnnStatus_t convolve(const char* function, cudnnHandle_t handle, const Convolution& all, Pass pass, const Values& a,
                       const Values& b, const Workspace& workspace, const Result& result, const Pick& pick) {
  Operands operands(function, cudnn_handles().at(function, handle).stream);
  operands.reads(a.name, a.begin, a.shape.bytes()).reads(b.name, b.begin, b.shape.bytes());
  operands.writes(result.name, result.begin, result.shape.bytes());
  add_workspace(function, operands, workspace, all.workspace(pass));
  operands.queue([=, a_begin = a.begin, a_elements = a.shape.elements(), b_begin = b.begin,
                  b_elements = b.shape.elements(), to = result.begin, elements = result.shape.elements(),
                  scale = result.scale] {
    workspace.spoil();
    const Type type = all.x.type;
    const std::vector<float> a_values = get_all(a_begin, type, a_elements);
    const std::vector<float> b_values = get_all(b_begin, type, b_elements);
    std::vector<double> sums(elements);
    all.for_each_product([&](std::size_t x, std::size_t weight, std::size_t y) {
      const auto [into, of_a, of_b] = pick(x, weight, y);
      sums[into] += double{a_values[of_a]} * double{b_values[of_b]};
    });
    for (std::size_t i = 0; i < elements; ++i) {
      put_scaled(to, type, i, sums[i], scale);
    }
  });
  return CUDNN_STATUS_SUCCESS;
}

struct Places {
  std::size_t into;
  std::size_t a;
  std::size_t b;
};

void require_bias(const char* function, const cudnnTensorStruct& bias, const cudnnTensorStruct& y) {
  if (bias.n != 1 || bias.c != y.c || bias.h != 1 || bias.w != 1) {
    misuse(function, "the bias has not one value for each channel");
  }
}

template <typename Thing, typename Handle>
cudnnStatus_t make_in(Handles<Thing>& all, Handle* made) {
  const Call call;
  *made = all.make();
  return CUDNN_STATUS_SUCCESS;
}

template <typename Thing>
cudnnStatus_t destroy_in(Handles<Thing>& all, const char* function, const Thing* thing) {
  const Call call;
  all.destroy(function, thing);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace
}  // namespace ballast::device_model

using namespace ballast::device_model;

std::size_t cudnnGetVersion() { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t /*status*/) { return "an error of the device model"; }
void cudnnGetLastErrorString(char* text, std::size_t /*bytes*/) { text[0] = '\0'; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return make_in(cudnn_handles(), handle); }
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy_in(cudnn_handles(), "cudnnDestroy", handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  const Call call;
  device_of("cudnnSetStream", stream);
  cudnn_handles().at("cudnnSetStream", handle).stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) { return make_in(tensors(), made); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  return destroy_in(tensors(), "cudnnDestroyTensorDescriptor", descriptor);
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  constexpr const char* kFunction = "cudnnSetTensor4dDescriptor";
  const Call call;
  describe(kFunction, tensors().at(kFunction, descriptor), format, type, {n, c, h, w});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) { return make_in(filters(), made); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  return destroy_in(filters(), "cudnnDestroyFilterDescriptor", descriptor);
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int to, int from, int h, int w) {
  constexpr const char* kFunction = "cudnnSetFilter4dDescriptor";
  const Call call;
  describe(kFunction, filters().at(kFunction, descriptor), format, type, {to, from, h, w});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) {
  return make_in(convolutions(), made);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  return destroy_in(convolutions(), "cudnnDestroyConvolutionDescriptor", descriptor);
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor, int padding_h, int padding_w,
                                              int stride_h, int stride_w, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t sums) {
  constexpr const char* kFunction = "cudnnSetConvolution2dDescriptor";
  const Call call;
  if (mode != CUDNN_CROSS_CORRELATION || sums != CUDNN_DATA_FLOAT) {
    misuse(kFunction, "the model knows cross correlation with sums in float32 only");
  }
  const auto sliding = [](int padding, int stride, int dilation) {
    return Sliding{static_cast<std::size_t>(padding), static_cast<std::size_t>(stride),
                   static_cast<std::size_t>(dilation)};
  };
  cudnnConvolutionStruct& convolution = convolutions().at(kFunction, descriptor);
  convolution.h = sliding(padding_h, stride_h, dilation_h);
  convolution.w = sliding(padding_w, stride_w, dilation_w);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor, int groups) {
  constexpr const char* kFunction = "cudnnSetConvolutionGroupCount";
  const Call call;
  convolutions().at(kFunction, descriptor).groups = static_cast<std::size_t>(groups);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t /*descriptor*/, cudnnMathType_t /*type*/) {
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t /*handle*/, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t weights, cudnnConvolutionDescriptor_t how,
                                                      cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t /*by*/,
                                                      std::size_t* bytes) {
  const Call call;
  *bytes = look_up("cudnnGetConvolutionForwardWorkspaceSize", x, weights, how, y).workspace(Pass::forward);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t /*handle*/, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t how,
    cudnnFilterDescriptor_t weights, cudnnConvolutionBwdFilterAlgo_t /*by*/, std::size_t* bytes) {
  const Call call;
  *bytes =
      look_up("cudnnGetConvolutionBackwardFilterWorkspaceSize", x, weights, how, y).workspace(Pass::backward_weights);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t /*handle*/, cudnnFilterDescriptor_t weights,
                                                           cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t how,
                                                           cudnnTensorDescriptor_t x,
                                                           cudnnConvolutionBwdDataAlgo_t /*by*/, std::size_t* bytes) {
  const Call call;
  *bytes = look_up("cudnnGetConvolutionBackwardDataWorkspaceSize", x, weights, how, y).workspace(Pass::backward_input);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_descriptor,
                                      const void* x, cudnnFilterDescriptor_t weights_descriptor, const void* weights,
                                      cudnnConvolutionDescriptor_t how, cudnnConvolutionFwdAlgo_t /*by*/,
                                      void* workspace, std::size_t workspace_bytes, const void* beta,
                                      cudnnTensorDescriptor_t y_descriptor, void* y) {
  constexpr const char* kFunction = "cudnnConvolutionForward";
  const Call call;
  const Convolution all = look_up(kFunction, x_descriptor, weights_descriptor, how, y_descriptor);
  return convolve(kFunction, handle, all, Pass::forward, {"x", x, all.x}, {"the weights", weights, all.weights},
                  {workspace, workspace_bytes}, {"y", y, all.y, scale_of(alpha, beta)},
                  [](std::size_t of_x, std::size_t of_weight, std::size_t of_y) {
                    return Places{of_y, of_x, of_weight};
                  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t x_descriptor, const void* x,
                                             cudnnTensorDescriptor_t y_descriptor, const void* y_gradient,
                                             cudnnConvolutionDescriptor_t how, cudnnConvolutionBwdFilterAlgo_t /*by*/,
                                             void* workspace, std::size_t workspace_bytes, const void* beta,
                                             cudnnFilterDescriptor_t weights_descriptor, void* weights_gradient) {
  constexpr const char* kFunction = "cudnnConvolutionBackwardFilter";
  const Call call;
  const Convolution all = look_up(kFunction, x_descriptor, weights_descriptor, how, y_descriptor);
  return convolve(kFunction, handle, all, Pass::backward_weights, {"x", x, all.x}, {"y's gradient", y_gradient, all.y},
                  {workspace, workspace_bytes},
                  {"the weights' gradient", weights_gradient, all.weights, scale_of(alpha, beta)},
                  [](std::size_t of_x, std::size_t of_weight, std::size_t of_y) {
                    return Places{of_weight, of_x, of_y};
                  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           cudnnFilterDescriptor_t weights_descriptor, const void* weights,
                                           cudnnTensorDescriptor_t y_descriptor, const void* y_gradient,
                                           cudnnConvolutionDescriptor_t how, cudnnConvolutionBwdDataAlgo_t /*by*/,
                                           void* workspace, std::size_t workspace_bytes, const void* beta,
                                           cudnnTensorDescriptor_t x_descriptor, void* x_gradient) {
  constexpr const char* kFunction = "cudnnConvolutionBackwardData";
  const Call call;
  const Convolution all = look_up(kFunction, x_descriptor, weights_descriptor, how, y_descriptor);
  return convolve(kFunction, handle, all, Pass::backward_input, {"the weights", weights, all.weights},
                  {"y's gradient", y_gradient, all.y}, {workspace, workspace_bytes},
                  {"x's gradient", x_gradient, all.x, scale_of(alpha, beta)},
                  [](std::size_t of_x, std::size_t of_weight, std::size_t of_y) {
                    return Places{of_x, of_weight, of_y};
                  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           cudnnTensorDescriptor_t y_descriptor, const void* y_gradient,
                                           const void* beta, cudnnTensorDescriptor_t bias_descriptor,
                                           void* bias_gradient) {
  constexpr const char* kFunction = "cudnnConvolutionBackwardBias";
  const Call call;
  const cudnnTensorStruct y = tensors().at(kFunction, y_descriptor);
  const cudnnTensorStruct bias = tensors().at(kFunction, bias_descriptor);
  require_bias(kFunction, bias, y);
  Operands operands(kFunction, cudnn_handles().at(kFunction, handle).stream);
  operands.reads("y's gradient", y_gradient, y.bytes()).writes("the bias's gradient", bias_gradient, bias.bytes());
  operands.queue([=, scale = scale_of(alpha, beta)] {
    std::vector<double> sums(bias.c);
    for (std::size_t i = 0; i < y.elements(); ++i) {
      sums[y.channel_of(i)] += get(y_gradient, y.type, i);
    }
    for (std::size_t channel = 0; channel < bias.c; ++channel) {
      put_scaled(bias_gradient, bias.type, channel, sums[channel], scale);
    }
  });
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t bias_descriptor,
                             const void* bias, const void* beta, cudnnTensorDescriptor_t y_descriptor, void* y) {
  constexpr const char* kFunction = "cudnnAddTensor";
  const Call call;
  const cudnnTensorStruct shape = tensors().at(kFunction, y_descriptor);
  const cudnnTensorStruct bias_shape = tensors().at(kFunction, bias_descriptor);
  require_bias(kFunction, bias_shape, shape);
  Operands operands(kFunction, cudnn_handles().at(kFunction, handle).stream);
  operands.reads("the bias", bias, bias_shape.bytes()).writes("y", y, shape.bytes());
  operands.queue([=, scale = scale_of(alpha, beta)] {
    for (std::size_t i = 0; i < shape.elements(); ++i) {
      put_scaled(y, shape.type, i, get(bias, bias_shape.type, shape.channel_of(i)), scale);
    }
  });
  return CUDNN_STATUS_SUCCESS;
}
