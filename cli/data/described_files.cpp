#include "cli/data/described_files.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "worker/data/arrays/zip.h"
#include "worker/data/tar.h"

namespace ballast {
namespace {

namespace fs = std::filesystem;

bool is_archive(const std::string& name) {
  return name.ends_with(".tar") || name.ends_with(".tar.gz") || name.ends_with(".tgz");
}

std::vector<std::string> names_in_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename());
  }
  if (error) {
    throw std::runtime_error(folder.string() + ": cannot be looked into: " + error.message());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> folders_in_archive(const fs::path& path) {
  std::set<std::string> names;
  TarReader archive(path);
  while (const auto file = archive.next()) {
    auto name = file->path;
    while (name.starts_with("./")) {
      name = name.substr(2);
    }
    if (const auto slash = name.find('/'); slash != std::string::npos && slash > 0) {
      names.insert(name.substr(0, slash));
    }
  }
  return {names.begin(), names.end()};
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The arrays of an .npz file, or of a folder of .npy files.
std::string array(const fs::path& root, const FolderNames& names, const std::string& name) {
  if (is_folder(root)) {
    return names.file(name + ".npy").empty() ? "" : name;
  }
  ZipFile zip(root);
  const bool there = std::ranges::any_of(zip.members(), [&](const ZipMember& m) { return m.name == name + ".npy"; });
  return there ? name : "";
}

DataSpec usual_files(const fs::path& root, const FolderNames& names, const std::string& kind) {
  DataSpec spec;
  spec.name = kind;
  if (kind == "idx") {
    spec.train = names.file("train-images-idx3-ubyte");
    spec.train_labels = names.file("train-labels-idx1-ubyte");
    spec.test = names.file("t10k-images-idx3-ubyte");
    spec.test_labels = names.file("t10k-labels-idx1-ubyte");
  } else if (kind == "cifar10") {
    spec.train = names.records("data_batch");
    spec.test = names.records("test_batch");
  } else if (kind == "npy") {
    spec.train = array(root, names, "x_train");
    spec.train_labels = array(root, names, "y_train");
    spec.test = array(root, names, "x_test");
    spec.test_labels = array(root, names, "y_test");
  } else if (kind == "csv") {
    spec.train = names.table("train");
    spec.test = names.table("test");
  } else if (kind == "trees") {
    spec.train = names.file("train.txt");
    spec.test = names.file("test.txt");
  } else {
    spec.train = names.tree("train");
    spec.test = names.tree("test");
  }
  return spec;
}

void take_named(const DescribeOptions& options, DataSpec& spec) {
  const auto take = [](const std::string& given, std::string& target) { target = given.empty() ? target : given; };
  take(options.train, spec.train);
  take(options.train_labels, spec.train_labels);
  take(options.test, spec.test);
  take(options.test_labels, spec.test_labels);
}

bool is_whole(const DataSpec& spec) {
  const bool labelled = spec.name == "idx" || spec.name == "npy";
  return !spec.train.empty() && (!spec.test.empty() || is_example_files(spec)) &&
         (!labelled || (!spec.train_labels.empty() && (spec.test.empty() || !spec.test_labels.empty())));
}

// Those that names may tell, in the order in which they are looked for.
std::vector<std::string> possible_kinds(const DescribeOptions& options, const fs::path& root) {
  if (!options.kind.empty()) {
    return {options.kind};
  }
  if (is_table(options.train)) {
    return {"csv"};
  }
  if (root.extension() == ".npz") {
    return {"npy"};
  }
  if (is_folder(root)) {
    return {"idx", "cifar10", "images", "npy", "csv"};
  }
  return {};
}

// Whether what the spec names can be of its kind: names that were given fit several otherwise.
bool may_be(const fs::path& root, const DataSpec& spec) {
  std::error_code ignored;
  const auto& name = spec.train;
  if (spec.name == "csv") {
    return is_table(name);
  }
  if (spec.name == "cifar10") {
    return name.ends_with(".bin") || name.ends_with(".bin.gz");
  }
  if (spec.name == "images") {
    return is_archive(name) || is_folder(root / name);
  }
  if (spec.name == "npy") {
    return !is_folder(root) || name.ends_with(".npy") || fs::exists(root / (name + ".npy"), ignored);
  }
  return !name.ends_with(".npy") && (fs::exists(root / name, ignored) || fs::exists(root / (name + ".gz"), ignored));
}

[[noreturn]] void refuse(const fs::path& root, const DescribeOptions& options) {
  if (!options.kind.empty()) {
    throw std::runtime_error(root.string() + ": the files of a data set of kind " + options.kind +
                             " are not known by their names here; name them with --train, --test and, for idx and "
                             "npy, --train-labels, --test-labels");
  }
  throw std::runtime_error(
      root.string() +
      ": no files of a data set are known by their names here: train-images-idx3-ubyte and the other three (idx), "
      "data_batch*.bin and test_batch.bin (cifar10), one folder or archive with 'train' and one with 'test' in its "
      "name (images), x_train and y_train (npy), or one .csv or .tsv with 'train' in its name (csv); say what they are "
      "with --as, --train, --test and, for idx and npy, --train-labels, --test-labels");
}

}  // namespace

bool is_table(const std::string& name) {
  const auto plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
  return plain.ends_with(".csv") || plain.ends_with(".tsv");
}

FolderNames::FolderNames(const fs::path& root) : root_(root), archive_(is_archive(root) && !is_folder(root)) {
  std::error_code error;
  if (archive_) {
    names_ = folders_in_archive(root);
  } else if (is_folder(root) || !fs::exists(root, error)) {
    names_ = names_in_folder(root);
  }
}

std::string FolderNames::file(const std::string& name) const {
  const auto has = [&](const std::string& wanted) { return std::ranges::binary_search(names_, wanted); };
  return has(name) ? name : has(name + ".gz") ? name + ".gz" : "";
}

std::string FolderNames::records(const std::string& beginning) const {
  std::vector<std::string> found;
  std::ranges::copy_if(names_, std::back_inserter(found), [&](const std::string& name) {
    return name.starts_with(beginning) && (name.ends_with(".bin") || name.ends_with(".bin.gz"));
  });
  if (found.size() < 2) {
    return found.empty() ? "" : found[0];
  }
  return beginning + (found[0].ends_with(".gz") ? "*.bin.gz" : "*.bin");
}

std::string FolderNames::tree(const std::string& word) const {
  return only(word, [&](const std::string& name) { return archive_ || is_archive(name) || is_folder(root_ / name); });
}

std::string FolderNames::table(const std::string& word) const { return only(word, is_table); }

template <class Fits>
std::string FolderNames::only(const std::string& word, const Fits& fits) const {
  std::string found;
  for (const auto& name : names_) {
    if (name.find(word) != std::string::npos && fits(name)) {
      if (!found.empty()) {
        return {};
      }
      found = name;
    }
  }
  return found;
}

DataSpec find_described(const DescribeOptions& options) {
  // Behind the last slash stands nothing then, also for `folder/.`.
  const auto root = (fs::absolute(options.folder) / "").lexically_normal().parent_path();
  const FolderNames names(root);
  std::vector<DataSpec> found;
  for (const auto& kind : possible_kinds(options, root)) {
    auto spec = usual_files(root, names, kind);
    take_named(options, spec);
    if (is_whole(spec) && (!options.kind.empty() || may_be(root, spec))) {
      spec.path = root;
      found.push_back(std::move(spec));
    }
  }
  if (found.size() > 1) {
    throw std::runtime_error(root.string() + ": the files of several data sets are known by their names here, " +
                             found[0].train + " (" + found[0].name + ") and " + found[1].train + " (" + found[1].name +
                             ") among them; say which one with --as");
  }
  if (found.empty()) {
    refuse(root, options);
  }
  return found[0];
}

}  // namespace ballast
