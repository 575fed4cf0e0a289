// The command line of ballast-server.
#pragma once

#include <cstdint>
#include <string>

#include "common/log/log.h"

namespace ballast {

struct ServerOptions {
  std::string job;
  std::uint32_t shard = 0;
  std::string lead;          // where the lead is reached
  std::string lead_bind;     // shard 0: where it listens; empty = lead
  std::string address_file;  // shard 0: written with the lead's address once it listens
  std::string bind = "tcp://127.0.0.1:*";
  std::string advertise;
  std::string database;
  std::string metrics;
  std::string page;  // shard 0: where the job's page is served; empty: nowhere
  std::string log_file;
  std::string log_level = "info";
  std::uint64_t log_megabytes = kLogMegabytes;
  std::uint32_t log_files = kLogFiles;
  std::uint32_t lead_patience = 0;  // seconds without a lead after which it ends; 0: never
  std::string keys;                 // folder of server.key and allowed.keys; empty: none
  bool insecure = false;
  std::uint32_t linger = 0;  // shard 0: seconds that the lead stays after the job's end
  int unfinished_code = 0;   // exit code of a server that was told to end and loses nothing by it
};

}  // namespace ballast
