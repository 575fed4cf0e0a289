// What RocksDB's failures mean to a person: which database, which file, and what to do.
#pragma once

#include <rocksdb/status.h>

#include <string>

#include "common/files/status.h"

namespace ballast {

// "PATH: cannot WHAT: ...; REMEDY".
StoreStatus translate(const std::string& path, const std::string& what, const rocksdb::Status& status);

// The same of a call of the system that failed with this errno.
StoreStatus refused_write(const std::string& path, int error);

// Why the database in the folder `path` could not be opened; `in_use`, with the owner's process id where the system
// tells it, if another process has it.
StoreStatus explain_open(const std::string& path, const rocksdb::Status& status);

}  // namespace ballast
