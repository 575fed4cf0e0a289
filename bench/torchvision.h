// torchvision as a baseline of the data pipeline, where it is installed.
#pragma once

#include <string>

#include "common/job/spec.h"

namespace ballast::bench {

struct ImageSpeed {
  double images_per_second = 0;
  double cpu_us = 0;  // processor time for an image
  std::string described;
  std::string refused;  // why there is no speed; empty: there is
};

// The images of a folder with one folder a class, resized to the job's size, by /usr/bin/python3's torchvision.
ImageSpeed torchvision_speed(const std::string& folder, const DataSpec& data, double seconds);

}  // namespace ballast::bench
