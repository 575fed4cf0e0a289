// The data sets behind open_dataset.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/job/spec.h"
#include "worker/data/pipeline.h"

namespace ballast {

// The folders searched for MNIST's files, in order: the worker's path, the job's path, $BALLAST_DATA and its `mnist`,
// the cache folder's `mnist`. What is not set is left out.
std::vector<std::filesystem::path> mnist_folders(const DataSpec& spec, const std::string& worker_path);

// MNIST, or any idx files of the same shapes and names, wholly in memory as 8-bit pixels. Takes the first folder that
// holds all four files. Throws std::runtime_error naming every place looked at, the file that is missing from an
// incomplete set or what is wrong within a file.
std::unique_ptr<Dataset> open_mnist(const DataSpec& spec, const std::string& worker_path);

// The embedded generator; see glyphs.h.
std::unique_ptr<Dataset> make_glyphs(const DataSpec& spec);

// Examples without features, all labelled 0, for the emulated model.
std::unique_ptr<Dataset> make_none(const DataSpec& spec);

}  // namespace ballast
