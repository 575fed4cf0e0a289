// `ballast data describe`: looks at the files of a data set and writes the data section of a job file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

struct DescribeOptions {
  std::string folder = {};
  std::string kind = {};   // idx | cifar10 | images; empty: by what lies in the folder
  std::string train = {};  // within the folder; empty: by their usual names
  std::string train_labels = {};
  std::string test = {};
  std::string test_labels = {};
  std::uint32_t channels = 0;  // images; 0: as the first image has
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  bool normalise = false;  // tell mean and deviation as well
};

// What the files are: all that a job must say of them. Counts examples, and decodes at most one image. Throws
// std::runtime_error with what is missing, and which option may help.
DataSpec describe(const DescribeOptions& options);

// Of a split, read to its end.
struct SplitFacts {
  std::vector<std::uint64_t> by_class;
  std::vector<double> mean;  // by channel, of values from 0 to 1, over the examples that can be read
  std::vector<double> deviation;
  std::vector<std::string> corrupt;  // each with path, byte and reason
};
struct DataFacts {
  SplitFacts train;
  SplitFacts test;
};

// Reads everything. Sums are over whole numbers from 0 to 255, hence exact in any order; the mean is their quotient in
// double, the deviation the root of the mean square less the mean's square.
DataFacts look_at(const DataSpec& spec);

// The section as YAML, with the facts as comments.
std::string data_section(const DataSpec& spec, const DataFacts& facts);

// Exit code 0. Standard output gets the section, standard error each corrupt example.
int describe_data(const DescribeOptions& options);

}  // namespace ballast
