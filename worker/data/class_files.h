// Which files of a split's folder are examples, where each class has a folder: SPLIT/CLASS/FILE, none of whose names
// begins with a dot. The sets `images` and `text` read by this rule, and `ballast data describe` tells what it leaves
// aside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace ballast {

// Whether a name in such a folder is passed over: it begins with a dot (or is empty, in an archive's path).
bool is_hidden_name(const std::string& name);

// Whether an entry is a regular file, or a link to one. Throws ReadFailure where that cannot be told for now.
bool is_class_file(const std::filesystem::directory_entry& entry);

// Calls `take` with each entry of each class's folder that is neither hidden nor a folder, in the file system's order:
// regular files, and what else there may be (links that lead nowhere, pipes), which is for the set's reader to judge.
// Throws std::runtime_error (ReadFailure if it may pass), naming `split` and the reason, if that cannot be looked into,
// and what `take` throws.
void for_each_class_file(
    const std::filesystem::path& split,
    const std::function<void(const std::string& folder, const std::filesystem::directory_entry& entry)>& take);

// What is left aside, by kind: how many, and the first by its path.
struct LeftAside {
  struct Kind {
    std::uint64_t count = 0;
    std::string first = {};

    void add(const std::string& path);
    void add(const Kind& other);
  };
  Kind nested;    // files in folders within a class's folder
  Kind outside;   // files in no class's folder
  Kind dangling;  // links that lead nowhere or to themselves, in a class's folder

  void add(const LeftAside& other);
};

// Of a folder. Hidden files and folders are not meant by anybody, and not counted. Within a class's folder neither
// links to folders are followed, which may lead in a circle, nor is looked into folders deeper than 32 or without
// permission: such a folder counts as one file. Throws as for_each_class_file does.
LeftAside left_aside(const std::filesystem::path& split);

}  // namespace ballast
