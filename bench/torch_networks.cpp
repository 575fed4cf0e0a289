#include "bench/torch_networks.h"

#include <array>
#include <cstdio>

#include "bench/pipe.h"
#include "bench/torch_prologue.h"

namespace ballast::bench {

namespace {

constexpr const char* kTorchNetworksProgram = R"py(
from torch.nn import functional as f
torch.set_num_threads(1)
torch.manual_seed(1)
name, examples, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])

def lenet5():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(inplace=True), nn.Conv2d(6, 16, 5),
                         nn.MaxPool2d(2), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(inplace=True),
                         nn.Linear(120, 84), nn.ReLU(inplace=True), nn.Linear(84, 10))

def conv_norm(a, b, kernel, stride=1):
    return nn.Sequential(nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(b))

class Block(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        stride = 1 if a == b else 2
        self.first, self.second = conv_norm(a, b, 3, stride), conv_norm(b, b, 3)
        self.shortcut = nn.Identity() if a == b else conv_norm(a, b, 1, stride)
    def forward(self, x):
        y = self.second(f.relu(self.first(x), inplace=True))
        y += self.shortcut(x)
        return f.relu(y, inplace=True)

def resnet20():
    widths = [16] + 3 * [16] + 3 * [32] + 3 * [64]
    blocks = [Block(a, b) for a, b in zip(widths, widths[1:])]
    return nn.Sequential(conv_norm(3, 16, 3), nn.ReLU(inplace=True), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(64, 10))

def vgg16():
    layers, a = [], 3
    for b in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        layers += [nn.MaxPool2d(2)] if b == 0 else [conv_norm(a, b, 3), nn.ReLU(inplace=True)]
        a = b or a
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))

class TextLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.fc = nn.Embedding(9000, 50), nn.Linear(256, 20)
        self.lstm = nn.LSTM(50, 128, batch_first=True, bidirectional=True)
    def forward(self, x):
        return self.fc(f.dropout(self.lstm(self.embedding(x))[0].amax(1), 0.5))

class EncoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = torch.softmax(q @ k.transpose(2, 3) * q.shape[3] ** -0.5, 3)
        x = x + f.dropout(self.output((scores @ v).transpose(1, 2).flatten(2)), 0.1)
        return x + f.dropout(self.fc2(f.gelu(self.fc1(self.norm2(x)))), 0.1)

class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(9000, 128), nn.Parameter(torch.rand(128, 128))
        self.blocks = nn.Sequential(*(EncoderBlock(128, 4) for _ in range(4)))
        self.norm, self.fc = nn.LayerNorm(128), nn.Linear(128, 20)
    def forward(self, x):
        x = f.dropout(self.embedding(x) + self.positions, 0.1)
        return self.fc(self.norm(self.blocks(x)).mean(1))

images = {"lenet5": (1, 28, 28), "resnet20": (3, 32, 32), "vgg16": (3, 32, 32)}
steps = {"text_lstm": 100, "transformer": 128}
net = {"lenet5": lenet5, "resnet20": resnet20, "vgg16": vgg16, "text_lstm": TextLstm, "transformer": Transformer}[name]()
x = torch.rand(examples, *images[name]) if name in images else torch.randint(0, 9000, (examples, steps[name]))
labels = torch.arange(examples) % (10 if name in images else 20)
loss = nn.CrossEntropyLoss()
def step():
    net.zero_grad(set_to_none=True)
    loss(net(x), labels).backward()
step()
begin, cpu, done = time.monotonic(), time.process_time(), 0
while time.monotonic() - begin < seconds or done < 2:
    step()
    done += 1
print(examples * done / (time.monotonic() - begin), 1e6 * (time.process_time() - cpu) / done / examples)
)py";

}  // namespace

// The two variables slow a current OpenBLAS: where they are set, it is for another one's sake.
TorchNetwork torch_network(const std::string& name, std::uint32_t examples, double seconds) {
  // The program has no single quote, so the shell takes it as it is.
  const std::string command =
      "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 /usr/bin/python3 -c '" +
      std::string(kTorchPrologue) + kTorchNetworksProgram + "' " + name + " " + std::to_string(examples) + " " +
      std::to_string(seconds) + " 2>/dev/null";
  const auto pipe = pipe_from(command);
  std::array<char, 512> line{};
  TorchNetwork torch;
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    torch.refused = "/usr/bin/python3 is not there or PyTorch does not run";
    return torch;
  }
  torch.described = line.data();
  torch.described.erase(torch.described.find_last_not_of('\n') + 1);
  if (torch.described.starts_with("refused ")) {
    torch.refused = torch.described.substr(8);
  } else if (std::fscanf(pipe.get(), "%lf %lf", &torch.speed.examples_per_second, &torch.speed.cpu_us) != 2) {
    torch.refused = torch.described + " does not train " + name;
  }
  return torch;
}

}  // namespace ballast::bench
