// What the keys of data sets of text, tables and arrays demand of each other.
#pragma once

#include <functional>
#include <string>

#include "common/job/spec.h"

namespace ballast {

// `refuse(path, text)` is called for each rule that the data section breaks, if is_example_files(data).
using Refuse = std::function<void(const std::string& path, const std::string& text)>;
void check_example_files(const DataSpec& data, const Refuse& refuse);

}  // namespace ballast
