// `ballast data describe`: looks at the files of a data set and writes the data section of a job file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/job/spec.h"

namespace ballast {

struct DescribeOptions {
  std::string folder = {};  // or the archive of texts, or the .npz file
  std::string kind = {};    // idx | cifar10 | images | text | trees | csv | npy; empty: by what lies in the folder
  std::string train = {};   // within the folder; empty: by their usual names
  std::string train_labels = {};
  std::string test = {};
  std::string test_labels = {};
  std::uint32_t channels = 0;  // images; 0: as the first image has
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  bool normalise = false;                 // images, csv: tell mean and deviation as well
  StripSpec strip = {};                   // text: what is not read of a message
  std::string tree_labels = {};           // trees: all | polarity; empty: all
  std::string separator = {};             // csv; empty: the one that the first line has most of
  bool no_header = false;                 // csv
  std::string label = {};                 // csv: the column of the class
  std::vector<std::string> flags = {};    // csv: columns of several classes
  std::vector<std::string> targets = {};  // csv: columns of numbers to be predicted
  // csv: columns that are what is said here, whatever their values look like.
  std::vector<std::string> numbers = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> ignored = {};
  std::string array_labels = {};  // npy: class | several | number; empty: told by the values
};

// What was found.
struct Description {
  std::string section;                     // the section as YAML, with facts as comments
  std::vector<std::string> corrupt;        // each with its place and reason
  std::vector<std::string> warnings = {};  // what a job may hold, but hardly should
  bool is_whole = true;                    // a job file may hold the section as it is
};

// Reads everything, of no file more than an example at a time (but idx files and records of CIFAR-10, at most 1 GiB
// each, which are held as a worker holds them). Throws UsageError for options that contradict each other
// or that the kind does not have, and std::runtime_error with what is missing, and which option may help.
Description describe(const DescribeOptions& options);

// Exit code 0. Standard output gets the section, standard error warnings and each corrupt example.
int describe_data(const DescribeOptions& options);

}  // namespace ballast
