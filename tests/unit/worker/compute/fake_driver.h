// What the driver that stands in for NVIDIA's says of itself.
#pragma once

struct FakeDriver {
  int version = 0;      // of CUDA: 12040 is 12.4
  int init_result = 0;  // a CUresult
  int devices = 0;
};

// Exported under this name by the library.
using SetFakeDriver = void (*)(const FakeDriver*);
