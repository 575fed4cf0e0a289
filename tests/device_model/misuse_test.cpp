// That the model ends the program, and with which words. Each case runs in a child process.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

namespace {

constexpr std::size_t kBytes = 400;

// What the child writes to its standard error; "" if it ends well.
std::string words_of(const std::function<void()>& body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  std::cout.flush();  // or the child says it again
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // doctest's own would speak, too
    ::setenv("BALLAST_DEVICE_MODEL", "lazy", 1);
    ::dup2(ends[1], STDERR_FILENO);
    body();
    std::exit(0);
  }
  ::close(ends[1]);
  std::string words;
  std::array<char, 512> part{};
  for (ssize_t got = 0; (got = ::read(ends[0], part.data(), part.size())) > 0;) {
    words.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  CHECK((words.empty() ? ended_well : aborted));
  return words;
}

void check_says(const std::string& sentence, const std::function<void()>& body) {
  const std::string words = words_of(body);
  CAPTURE(words);
  CHECK(words.starts_with("device model: "));
  CHECK(words.find(sentence) != std::string::npos);
}

struct Fixture {
  Fixture() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&device, kBytes);
    cudaMallocHost(&pinned, kBytes);
  }
  void fetch(std::size_t bytes = kBytes) { cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream); }
  void free_all() {
    cudaStreamDestroy(stream);
    cudaFree(device);
    cudaFreeHost(pinned);
  }

  cudaStream_t stream = nullptr;
  void* device = nullptr;
  void* pinned = nullptr;
};

TEST_CASE("device model: nothing is said of what is right") {
  CHECK(words_of([] {
          Fixture all;
          all.fetch();
          cudaStreamSynchronize(all.stream);
          all.free_all();
        }).empty());
}

TEST_CASE("device model: memory") {
  check_says("not within memory of a device", [] { Fixture().fetch(kBytes + 1); });
  check_says("the work is of device 1", [] {
    Fixture all;
    cudaSetDevice(1);
    cudaStreamCreateWithFlags(&all.stream, cudaStreamNonBlocking);
    all.fetch();
  });
  check_says("cudaFree: ", [] { cudaFree(static_cast<char*>(Fixture().device) + 4); });
}

TEST_CASE("device model: what is in use") {
  check_says("still in use by cudaMemcpyAsync to the host", [] {
    Fixture all;
    all.fetch();
    cudaFree(all.device);
  });
  check_says("still in use by cudaMemcpyAsync to the host", [] {
    Fixture all;
    all.fetch();
    cudaFreeHost(all.pinned);
  });
  check_says("cudaStreamDestroy: cudaMemcpyAsync to the host is still queued there", [] {
    Fixture all;
    all.fetch();
    cudaStreamDestroy(all.stream);
  });
  check_says("not, or no longer: streams", [] {
    Fixture all;
    cudaStreamDestroy(all.stream);
    all.fetch();
  });
}

TEST_CASE("device model: what is left at the end") {
  check_says("1 allocations of device memory are left, one of 400 bytes", [] {
    Fixture all;
    cudaStreamDestroy(all.stream);
    cudaFreeHost(all.pinned);
  });
  check_says("1 left: streams", [] {
    Fixture all;
    cudaFree(all.device);
    cudaFreeHost(all.pinned);
  });
}

// A product of 10 x 10 by 10 x 10.
void multiply_by(cublasHandle_t handle, const float* factor, int leading_dimension, float* c) {
  constexpr float kOne = 1;
  constexpr float kZero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 10, 10, 10, &kOne, factor, leading_dimension, factor, 10, &kZero, c,
              10);
}

void multiply(int leading_dimension, bool with_workspace) {
  const Fixture all;
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);
  cublasSetStream(handle, all.stream);
  void* workspace = nullptr;
  void* c = nullptr;
  cudaMalloc(&workspace, kBytes);
  cudaMalloc(&c, kBytes);
  if (with_workspace) {
    cublasSetWorkspace(handle, workspace, kBytes);
  }
  multiply_by(handle, static_cast<const float*>(all.device), leading_dimension, static_cast<float*>(c));
}

TEST_CASE("device model: cuBLAS") {
  check_says("the leading dimension of A is 9, it has 10 rows", [] { multiply(9, true); });
  check_says("cublasSgemm: A is", [] { multiply(11, true); });
  check_says("no workspace of its own", [] { multiply(10, false); });
  check_says("the calling thread's device is 0", [] {
    cudaSetDevice(1);
    cudaStream_t stream = nullptr;
    cublasHandle_t handle = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    void* workspace = nullptr;
    cudaMalloc(&workspace, kBytes);
    cublasSetWorkspace(handle, workspace, kBytes);
    // A thread begins on device 0, whatever others have chosen.
    std::thread([&] { multiply_by(handle, nullptr, 10, nullptr); }).join();
  });
}

TEST_CASE("device model: cuDNN's workspace") {
  check_says("cudnnConvolutionForward: the workspace is ", [] {
    const Fixture all;
    constexpr float kOne = 1;
    cudnnHandle_t handle = nullptr;
    cudnnTensorDescriptor_t x = nullptr;
    cudnnFilterDescriptor_t weights = nullptr;
    cudnnConvolutionDescriptor_t how = nullptr;
    cudnnCreate(&handle);
    cudnnSetStream(handle, all.stream);
    cudnnCreateTensorDescriptor(&x);
    cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 2, 2);
    cudnnCreateFilterDescriptor(&weights);
    cudnnSetFilter4dDescriptor(weights, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1, 1);
    cudnnCreateConvolutionDescriptor(&how);
    cudnnSetConvolution2dDescriptor(how, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    auto* const values = static_cast<float*>(all.device);
    cudnnConvolutionForward(handle, &kOne, x, values, weights, values + 4, how,
                            CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, nullptr, 0, &kOne, x, values + 8);
  });
}

}  // namespace
