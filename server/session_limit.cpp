#include "server/session_limit.h"

#include <algorithm>

#include "common/net/descriptors.h"

namespace ballast {

namespace {

// Open at the same time at most, by what takes them.
constexpr std::uint64_t kProcess =
    16;  // standard streams, the log, signals, ZeroMQ's own threads, files read at the start
constexpr std::uint64_t kDatabase = 96;  // RocksDB's tables (64), logs, lists; files written anew
constexpr std::uint64_t kJournal = 16;
constexpr std::uint64_t kCopies = 16;       // read, and sent elsewhere
constexpr std::uint64_t kMetrics = 32;      // who scrapes
constexpr std::uint64_t kPageViewers = 40;  // who looks at it (HttpServer::kConnections), its socket, what wakes it
constexpr std::uint64_t kClients = 32;      // of the lead: `ballast status` and the like
// Of a lane: its socket, who listens there, its own connection to the lead, what other threads wake it by.
constexpr std::uint64_t kLane = 12;
constexpr std::uint64_t kLead = 8;
// Workers that come back before their old connections are known to be dead have two for a while.
constexpr std::uint64_t kComingBack = 8;

}  // namespace

SessionLimit session_limit(const DescriptorUse& use) {
  SessionLimit limit;
  limit.each = use.lanes + (use.hosts_lead ? 1 : 0);
  limit.beside = kProcess + kDatabase + kJournal + kCopies + kMetrics + kDescriptorReserve + use.lanes * kLane +
                 kComingBack * limit.each;
  if (use.hosts_lead) {
    limit.beside += kLead + kClients + std::uint64_t{use.shards} * use.lanes;
  }
  limit.beside += use.has_page ? kPageViewers : 0;
  const auto left = use.limit - std::min(use.limit, limit.beside);
  limit.sessions = static_cast<std::uint32_t>(std::min<std::uint64_t>(left / limit.each, kMaxSessions));
  return limit;
}

std::string why_too_few(const DescriptorUse& use, std::uint32_t workers) {
  const auto limit = session_limit(use);
  const auto wanted = std::min(workers, kMaxSessions);
  if (limit.sessions >= wanted) {
    return {};
  }
  return "this process may have " + std::to_string(use.limit) + " files open, which hold " +
         std::to_string(limit.sessions) + " workers (" + std::to_string(limit.each) + " connections each, " +
         std::to_string(limit.beside) + " files besides), and the job declares " + std::to_string(wanted) + ": " +
         kDescriptorRemedy + " to " + std::to_string(limit.beside + limit.each * wanted) +
         ", or declare fewer workers or lanes";
}

}  // namespace ballast
