#include "bench/torchvision.h"

#include <array>
#include <cstdio>

#include "bench/pipe.h"

namespace ballast::bench {

namespace {

constexpr const char* kTorchvisionProgram = R"py(
import random, sys, time
try:
    import torch, torchvision
    from torchvision import transforms
except ImportError:
    print("refused torchvision is not installed for /usr/bin/python3")
    sys.exit()
folder, height, width, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
torch.set_num_threads(1)
change = transforms.Compose([
    transforms.Resize((height, width)),
    transforms.RandomAffine(15, scale=(0.9, 1.1), shear=5.7, interpolation=transforms.InterpolationMode.BILINEAR),
    transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.25] * 3)])
images = torchvision.datasets.ImageFolder(folder, transform=change)
print("torchvision " + torchvision.__version__ + ", one process")
order = list(range(len(images)))
def batch():
    return torch.stack([images[random.choice(order)][0] for _ in range(128)])
batch()
begin, cpu, taken = time.monotonic(), time.process_time(), 0
while time.monotonic() - begin < seconds:
    batch()
    taken += 128
print(taken / (time.monotonic() - begin), 1e6 * (time.process_time() - cpu) / taken)
)py";

}  // namespace

ImageSpeed torchvision_speed(const std::string& folder, const DataSpec& data, double seconds) {
  const std::string command = "OMP_NUM_THREADS=1 /usr/bin/python3 -c " + quoted(kTorchvisionProgram) + " " +
                              quoted(folder) + " " + std::to_string(data.height) + " " + std::to_string(data.width) +
                              " " + std::to_string(seconds) + " 2>/dev/null";
  const auto pipe = pipe_from(command);
  std::array<char, 512> line{};
  ImageSpeed speed;
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    speed.refused = "/usr/bin/python3 is not there or torchvision does not read " + folder;
    return speed;
  }
  speed.described = line.data();
  speed.described.erase(speed.described.find_last_not_of('\n') + 1);
  if (speed.described.starts_with("refused ")) {
    speed.refused = speed.described.substr(8);
  } else if (std::fscanf(pipe.get(), "%lf %lf", &speed.images_per_second, &speed.cpu_us) != 2 ||
             speed.images_per_second <= 0) {
    speed.refused = speed.described + " does not read " + folder;
  }
  return speed;
}

}  // namespace ballast::bench
