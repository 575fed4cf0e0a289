#include "bench/torch.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/pipe.h"
#include "bench/torch_prologue.h"

namespace ballast::bench {

namespace {

constexpr const char* kTorchProgram = R"py(
torch.set_num_threads(1)
torch.manual_seed(1)
net = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5),
                    nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                    nn.Linear(84, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=0.0005)
images, labels = torch.randint(0, 256, (20000, 1, 28, 28), dtype=torch.uint8), torch.randint(0, 10, (20000,))
loss = nn.CrossEntropyLoss()
order, at = torch.randperm(20000), 0
def step():
    global order, at
    if at + 128 > 20000:
        order, at = torch.randperm(20000), 0
    drawn = order[at:at + 128]
    at += 128
    optimizer.zero_grad()
    loss(net((images[drawn].float() / 255 - 0.13) / 0.31), labels[drawn]).backward()
    optimizer.step()
for _ in range(10):
    step()
begin, cpu, steps = time.monotonic(), time.process_time(), 0
while time.monotonic() - begin < float(sys.argv[1]):
    step()
    steps += 1
print(128 * steps / (time.monotonic() - begin), 1e6 * (time.process_time() - cpu) / steps / 128)
)py";

}  // namespace

// The two variables slow a current OpenBLAS: where they are set, it is for another one's sake.
TorchSpeed torch_lenet5(double seconds) {
  // The program has no single quote, so the shell takes it as it is.
  const std::string command =
      "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 /usr/bin/python3 -c '" +
      std::string(kTorchPrologue) + kTorchProgram + "' " + std::to_string(seconds) + " 2>/dev/null";
  const auto pipe = pipe_from(command);
  std::array<char, 512> line{};
  TorchSpeed speed;
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    speed.refused = "/usr/bin/python3 is not there or PyTorch does not run";
    return speed;
  }
  std::string first = line.data();
  first.erase(first.find_last_not_of('\n') + 1);
  if (first.starts_with("refused ")) {
    speed.refused = first.substr(8);
    return speed;
  }
  speed.described = first;
  if (std::fscanf(pipe.get(), "%lf %lf", &speed.images_per_second, &speed.cpu_us) != 2 ||
      speed.images_per_second <= 0) {
    speed.refused = first + " does not train";
  }
  return speed;
}

}  // namespace ballast::bench
