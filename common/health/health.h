// Whether a server or a worker is well, by two looks at its metrics page: what container engines ask.
#pragma once

#include <string>
#include <vector>

#include "common/health/page.h"

namespace ballast {

enum class Role { server, worker };

// alive: each of its loops goes round. ready: besides, every lane of a server serves, and a worker has its job and
// hears its lead.
enum class Question { alive, ready };

struct Asked {
  Role role = Role::server;
  Question question = Question::alive;
};

// A lead that was not heard for longer is not heard: it answers each of a worker's heartbeats, ten a second.
inline constexpr double kLeadHeardSeconds = 15;

// The loops that had begun at the first look and have not gone round once since: "lane 0", "lead", "worker".
std::vector<std::string> standing_loops(const Series& first, const Series& now);

// Why the process is not what is asked, by one look; empty if nothing speaks against it.
std::string complaint(const Asked& asked, const Series& now);

struct Health {
  bool good = false;
  std::string text;  // one line, whatever it is
};

// Looks at the page at HOST:PORT until all loops have gone round, for 10 s at most.
Health look_at(const Asked& asked, const std::string& address);

}  // namespace ballast
