#include "cli/data/described_files.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/data/section_text.h"
#include "common/job/words.h"
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

std::string in_small(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return text;
}

std::string why_capitals(const std::string& name) {
  return shown(name) + " is there, but names are known in small letters alone";
}

// One of `names`: `name`, or else `name` with `ending`.
NamedFile one_of(const std::vector<std::string>& names, const std::string& name, const std::string& ending) {
  for (const auto& wanted : {name, name + ending}) {
    if (std::ranges::find(names, wanted) != names.end()) {
      return {.name = wanted};
    }
  }
  for (const auto& other : names) {
    if (in_small(other) == name || in_small(other) == name + ending) {
      return {.why = why_capitals(other)};
    }
  }
  return {};
}

// The arrays of an .npz file, or of a folder of .npy files.
NamedFile array(const fs::path& root, const FolderNames& names, const std::string& name) {
  const std::string ending = ".npy";
  NamedFile found;
  if (is_folder(root)) {
    found = names.file(name + ending);
  } else {
    const ZipFile zip(root);
    std::vector<std::string> members;
    for (const auto& member : zip.members()) {
      members.push_back(member.name);
    }
    found = one_of(members, name + ending, "");
  }
  return found.name.empty() ? found : NamedFile{.name = name};
}

// A file that a kind of data sets has.
struct UsualFile {
  const char* option;  // that names it
  std::string DataSpec::*target;
  std::string what;  // it is, where nothing like it is there
  NamedFile found;
};

std::vector<UsualFile> usual_files(const fs::path& root, const FolderNames& names, const std::string& kind) {
  const auto all = [](const std::vector<std::pair<std::string, NamedFile>>& files) {
    const std::vector<std::pair<const char*, std::string DataSpec::*>> options = {
        {"--train", &DataSpec::train},
        {"--test", &DataSpec::test},
        {"--train-labels", &DataSpec::train_labels},
        {"--test-labels", &DataSpec::test_labels}};
    std::vector<UsualFile> usual;
    for (std::size_t i = 0; i < files.size(); ++i) {
      usual.push_back({options[i].first, options[i].second, files[i].first, files[i].second});
    }
    return usual;
  };
  const auto file = [&](const std::string& name) { return std::pair("file " + name, names.file(name)); };
  const auto values = [&](const std::string& name) { return std::pair("array " + name, array(root, names, name)); };
  if (kind == "idx") {
    return all({file("train-images-idx3-ubyte"), file("t10k-images-idx3-ubyte"), file("train-labels-idx1-ubyte"),
                file("t10k-labels-idx1-ubyte")});
  }
  if (kind == "cifar10") {
    return all(
        {{"file data_batch*.bin", names.records("data_batch")}, {"file test_batch.bin", names.records("test_batch")}});
  }
  if (kind == "npy") {
    return all({values("x_train"), values("x_test"), values("y_train"), values("y_test")});
  }
  if (kind == "csv") {
    return all({{"table (.csv, .tsv) with 'train' in its name", names.table("train")},
                {"table (.csv, .tsv) with 'test' in its name", names.table("test")}});
  }
  if (kind == "trees") {
    return all({file("train.txt"), file("test.txt")});
  }
  return all({{"folder or archive with 'train' in its name", names.tree("train")},
              {"folder or archive with 'test' in its name", names.tree("test")}});
}

// What is not given is taken by its usual name.
DataSpec spec_of(const DescribeOptions& options, const fs::path& root, const std::string& kind,
                 const std::vector<UsualFile>& files) {
  DataSpec spec;
  spec.name = kind;
  spec.path = root;
  for (const auto& file : files) {
    spec.*file.target = file.found.name;
  }
  const auto take = [](const std::string& given, std::string& target) { target = given.empty() ? target : given; };
  take(options.train, spec.train);
  take(options.train_labels, spec.train_labels);
  take(options.test, spec.test);
  take(options.test_labels, spec.test_labels);
  return spec;
}

bool needs_test(const DataSpec& spec) { return !is_example_files(spec); }
bool is_labelled(const DataSpec& spec) { return spec.name == "idx" || spec.name == "npy"; }

bool is_whole(const DataSpec& spec) {
  return !spec.train.empty() && (!spec.test.empty() || !needs_test(spec)) &&
         (!is_labelled(spec) || (!spec.train_labels.empty() && (spec.test.empty() || !spec.test_labels.empty())));
}

// What a set of this kind lacks, if some of it is there or nearly so, or it is what the options say; otherwise empty.
std::string what_is_lacking(const DataSpec& spec, const std::vector<UsualFile>& files, bool is_told) {
  bool any = false;
  std::string all;
  for (const auto& file : files) {
    const bool of_test = file.target == &DataSpec::test || file.target == &DataSpec::test_labels;
    const bool lacks = (spec.*file.target).empty();
    any = any || !file.found.name.empty() || !file.found.why.empty() || (is_told && !lacks);
    if (lacks && (!of_test || needs_test(spec) || !spec.test.empty())) {
      all += (all.empty() ? "" : ", ") + (file.found.why.empty() ? "there is no " + file.what : file.found.why) + " (" +
             file.option + ")";
    }
  }
  const bool lacks_test = spec.name == "images" && !spec.train.empty() && spec.test.empty();
  const std::string advice =
      lacks_test ? "; where no images are kept for tests, move a part of each class's files into a folder of their own "
                   "(test/CLASS/FILE)"
                 : "";
  return any && !all.empty() ? all + advice : "";
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

// A kind of data set, and what lacks of it.
struct Lacking {
  std::string kind;
  std::string what;
};

[[noreturn]] void refuse(const fs::path& root, const DescribeOptions& options, const std::vector<Lacking>& nearly) {
  const auto where = root.string() + ": ";
  std::string near;
  for (const auto& [kind, what] : nearly) {
    near += (near.empty() ? "" : ". ") + kind + ": " + what;
  }
  std::error_code ignored;
  if (options.kind.empty() && fs::is_regular_file(root, ignored)) {
    throw std::runtime_error(where + "is a file: name the folder that it lies in, and say --train " +
                             shell_word(root.filename()) + "; if it is an archive of texts, say --as text");
  }
  if (!options.train.empty() && options.kind.empty() && nearly.empty()) {
    throw std::runtime_error(where +
                             (fs::exists(root / options.train, ignored)
                                  ? "what " + shown(options.train) + " is cannot be told by its name; say it with --as"
                                  : "--train: there is no " + shown(options.train) + " here; correct it"));
  }
  if (!options.kind.empty()) {
    throw std::runtime_error(where + "the files of a data set of kind " + options.kind +
                             " are not known by their names here" + (near.empty() ? "" : ": " + nearly[0].what) +
                             "; name them with --train, --test and, for idx and npy, --train-labels, --test-labels");
  }
  if (!near.empty()) {
    throw std::runtime_error(where + "no data set is known by its files' names here, though nearly so. " + near +
                             ". Name the files with the options in brackets, or rename them");
  }
  throw std::runtime_error(
      where +
      "no files of a data set are known by their names here: train-images-idx3-ubyte and the other three (idx), "
      "data_batch*.bin and test_batch.bin (cifar10), one folder or archive with 'train' and one with 'test' in its "
      "name (images), x_train and y_train (npy), or one .csv or .tsv with 'train' in its name (csv); say what they are "
      "with --as, --train, --test and, for idx and npy, --train-labels, --test-labels");
}

bool is_one_place(const fs::path& root, const std::string& a, const std::string& b) {
  std::error_code none_there;  // arrays of an .npz file, names with a star
  return a == b || fs::equivalent(root / a, root / b, none_there);
}

// Several files may be the test split, which is left out then. One file may be both.
std::vector<std::string> test_warnings(const fs::path& root, const DataSpec& spec,
                                       const std::vector<UsualFile>& files) {
  std::vector<std::string> warnings;
  if (is_one_place(root, spec.train, spec.test)) {
    warnings.push_back("the test split is the training split, " + shown(spec.train) +
                       ": a test would tell nothing of examples that were not trained on; keep a part of them for "
                       "tests, in files of their own, and name it with --test");
  }
  for (const auto& file : files) {
    if (file.target == &DataSpec::test && spec.test.empty() && !file.found.why.empty()) {
      warnings.push_back("there is no test split: " + file.found.why + "; name it with --test");
    }
  }
  return warnings;
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

NamedFile FolderNames::file(const std::string& name) const { return one_of(names_, name, ".gz"); }

NamedFile FolderNames::records(const std::string& beginning) const {
  std::vector<std::string> found;
  std::ranges::copy_if(names_, std::back_inserter(found), [&](const std::string& name) {
    return name.starts_with(beginning) && (name.ends_with(".bin") || name.ends_with(".bin.gz"));
  });
  if (found.size() < 2) {
    return {.name = found.empty() ? "" : found[0]};
  }
  return {.name = beginning + (found[0].ends_with(".gz") ? "*.bin.gz" : "*.bin")};
}

NamedFile FolderNames::tree(const std::string& word) const {
  return only(word, "folders or archives",
              [&](const std::string& name) { return archive_ || is_archive(name) || is_folder(root_ / name); });
}

NamedFile FolderNames::table(const std::string& word) const {
  return only(word, "tables", [](const std::string& name) { return is_table(name); });
}

template <class Fits>
NamedFile FolderNames::only(const std::string& word, const std::string& what, const Fits& fits) const {
  constexpr std::size_t kTold = 3;
  std::vector<std::string> found;
  std::string in_capitals;
  for (const auto& name : names_) {
    if (name.find(word) != std::string::npos && fits(name)) {
      found.push_back(name);
    } else if (in_capitals.empty() && in_small(name).find(word) != std::string::npos &&
               (fits(name) || fits(in_small(name)))) {
      in_capitals = name;
    }
  }
  if (found.size() == 1) {
    return {.name = found[0]};
  }
  if (found.empty()) {
    return {.why = in_capitals.empty() ? "" : why_capitals(in_capitals)};
  }
  const std::vector<std::string> told(found.begin(),
                                      found.begin() + static_cast<std::ptrdiff_t>(std::min(kTold, found.size())));
  return {.why = std::to_string(found.size()) + " " + what + " have '" + word +
                 "' in their names: " + comma_list(told) + (found.size() > kTold ? ", ..." : "")};
}

FoundFiles find_described(const DescribeOptions& options) {
  // Behind the last slash stands nothing then, also for `folder/.`.
  const auto root = (fs::absolute(options.folder) / "").lexically_normal().parent_path();
  const FolderNames names(root);
  std::vector<FoundFiles> found;
  std::vector<Lacking> nearly;
  for (const auto& kind : possible_kinds(options, root)) {
    const auto files = usual_files(root, names, kind);
    auto spec = spec_of(options, root, kind, files);
    if (!is_whole(spec)) {
      const auto what = what_is_lacking(spec, files, !options.kind.empty());
      if (!what.empty()) {
        nearly.push_back({kind, what});
      }
    } else if (!options.kind.empty() || may_be(root, spec)) {
      auto warnings = test_warnings(root, spec, files);
      found.push_back({std::move(spec), std::move(warnings)});
    }
  }
  if (found.size() > 1) {
    const auto& first = found[0].spec;
    const auto& second = found[1].spec;
    throw std::runtime_error(root.string() + ": the files of several data sets are known by their names here, " +
                             first.train + " (" + first.name + ") and " + second.train + " (" + second.name +
                             ") among them; say which one with --as");
  }
  if (found.empty()) {
    refuse(root, options, nearly);
  }
  return found[0];
}

}  // namespace ballast
