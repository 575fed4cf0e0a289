#include "bench/torch.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace ballast::bench {

namespace {

constexpr const char* kProgram = R"py(
import sys, time
try:
    import torch
except ImportError:
    sys.exit(3)
from torch import nn
torch.set_num_threads(1)
torch.manual_seed(1)
net = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5),
                    nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                    nn.Linear(84, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=0.0005)
images, labels = torch.rand(128, 1, 28, 28), torch.randint(0, 10, (128,))
loss = nn.CrossEntropyLoss()
def step():
    optimizer.zero_grad()
    loss(net(images), labels).backward()
    optimizer.step()
for _ in range(10):
    step()
begin, cpu, steps = time.monotonic(), time.process_time(), 0
while time.monotonic() - begin < float(sys.argv[1]):
    step()
    steps += 1
print(128 * steps / (time.monotonic() - begin), 1e6 * (time.process_time() - cpu) / steps / 128)
)py";

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

}  // namespace

std::optional<TorchSpeed> torch_lenet5(double seconds) {
  // The program has no single quote, so the shell takes it as it is.
  const std::string command = "OMP_NUM_THREADS=1 /usr/bin/python3 -c '" + std::string(kProgram) + "' " +
                              std::to_string(seconds) + " 2>/dev/null";
  const std::unique_ptr<std::FILE, ClosePipe> pipe(popen(command.c_str(), "r"));
  TorchSpeed speed;
  if (!pipe || std::fscanf(pipe.get(), "%lf %lf", &speed.images_per_second, &speed.cpu_us) != 2 ||
      speed.images_per_second <= 0) {
    return std::nullopt;
  }
  return speed;
}

}  // namespace ballast::bench
