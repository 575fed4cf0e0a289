// `ballast keygen`: the keys of a job's servers, workers and operators, and those of copies of snapshots.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace ballast {

struct KeygenOptions {
  std::string folder;
  std::uint32_t workers = 0;    // one key for each of so many; 0: one for all
  std::string worker;           // add one of this name to the keys that are there
  std::string command;          // the same for an operator
  bool next_server = false;     // make another key for the servers, which all are to know before it is used
  bool forget_servers = false;  // all are to know only the key that the servers have now
  std::string copies;           // instead of all that: the file of the keys of copies
  bool next_copy_key = false;   // it is there, and is to have another first key
};

// Makes server.key, allowed.keys, operator.key and worker.key (or worker-1.key and so on) in a folder that only its
// owner may read. Throws UsageError if there are any already, std::runtime_error if it cannot be written.
void make_keys(const std::filesystem::path& folder, std::uint32_t workers);

// Prints what it has made, and what is to be done with it. Returns the exit code.
int keygen(const KeygenOptions& options);

}  // namespace ballast
