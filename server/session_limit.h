// How many workers a server's file descriptors hold.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/ids.h"

namespace ballast {

// What a server's descriptors are for.
struct DescriptorUse {
  std::uint64_t limit = 0;  // of the process
  std::uint32_t shards = 1;
  std::uint32_t lanes = 1;  // of each shard
  bool hosts_lead = false;
  bool has_page = false;
};

struct SessionLimit {
  std::uint32_t sessions = 0;  // that are let in; at most kMaxSessions
  std::uint64_t beside = 0;    // descriptors for all but the sessions: storage, metrics, logs, lanes, the reserve
  std::uint64_t each = 0;      // for each session
};

SessionLimit session_limit(const DescriptorUse& use);

// Descriptors that are held back, so that storage can go on where connections have taken all others.
inline constexpr std::uint64_t kDescriptorReserve = 64;

// Why a job that declares so many workers can't be served; empty if it can.
std::string why_too_few(const DescriptorUse& use, std::uint32_t workers);

}  // namespace ballast
