// The data sets behind open_dataset.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job/spec.h"
#include "common/job/steps.h"
#include "worker/data/dataset.h"

namespace ballast {

// Whether a data set is read from files, so that a path to it means something.
bool reads_files(const DataSpec& spec);

// The value of an environment variable; empty if there is none.
std::string environment(const char* name);

// The folder that somebody has named: the worker's, or else the job's; nothing if neither has. Throws
// std::runtime_error if there is no such folder.
std::optional<std::filesystem::path> named_folder(const DataSpec& spec, const std::string& worker_path);

// The folder of the files that a job names: the named one, or else $BALLAST_DATA. Throws std::runtime_error if there is
// none.
std::filesystem::path data_folder(const DataSpec& spec, const std::string& worker_path);

// The files that `name` stands for within a folder, in the order of their names: one `*` in its last part stands for
// any text. Without one it is that one file, whether it is there or not. Throws std::runtime_error if there is none.
std::vector<std::filesystem::path> files_named(const std::filesystem::path& folder, const std::string& name);

// The folders searched for MNIST's files: the named one alone if there is one, else in order $BALLAST_DATA and its
// `mnist`, the cache folder's `mnist`. What is not set is left out. Throws like named_folder.
std::vector<std::filesystem::path> mnist_folders(const DataSpec& spec, const std::string& worker_path);

// The first of these folders that holds MNIST's files. Throws std::runtime_error naming every place looked at and how
// to fetch them, or what is missing from an incomplete set. Reads no file.
std::filesystem::path find_mnist(const DataSpec& spec, const std::string& worker_path);

// MNIST, or any idx files of the same shapes and names, wholly in memory as 8-bit pixels, from the folder that
// find_mnist finds. Throws std::runtime_error like it, and where something is wrong within a file.
std::unique_ptr<Dataset> open_mnist(const DataSpec& spec, const std::string& worker_path);

// Any idx files of images and labels, or files of CIFAR-10 records, wholly in memory; see docs/data.md. Throw
// std::runtime_error where something is wrong within a file, or where it holds fewer examples than the job counts on.
std::unique_ptr<Dataset> open_idx(const DataSpec& spec, const std::string& worker_path);
std::unique_ptr<Dataset> open_cifar10(const DataSpec& spec, const std::string& worker_path);

// PNG and JPEG images in folders or archives. Each file is read once, for the digest; images are decoded when they are
// first wanted, and kept as far as data.cache_mb goes. Reading throws for one that cannot be decoded, or takes another
// in its place, as data.corrupt and `use` say, and tells each in the log once. Throws std::runtime_error as ImageFiles
// and spread_examples do.
std::unique_ptr<Dataset> open_images(const DataSpec& spec, const std::string& worker_path,
                                     DatasetUse use = DatasetUse::training);

// The last `examples` of the train split become the validation split; what is read and the digest stay the same.
// Throws std::runtime_error if none would be left to train on.
std::unique_ptr<Dataset> hold_out(std::unique_ptr<Dataset> dataset, std::uint32_t examples);

// The sizes of a data set before anything is held out, as the functions below open it.
inline SplitSizes whole_split_sizes(const DataSpec& spec) {
  const SplitSizes sizes = split_sizes(spec);
  return {sizes.train + sizes.validation, sizes.test, 0};
}

// The embedded generator; see glyphs.h.
std::unique_ptr<Dataset> make_glyphs(const DataSpec& spec);

// Examples without features, all labelled 0, for the emulated model.
std::unique_ptr<Dataset> make_none(const DataSpec& spec);

}  // namespace ballast
