// ballast-simulate: lives many small clusters from many seeds, in virtual time, until time is up or a promise breaks.
// Each job is a process of its own, so that even a core that crashes or hangs is reported with its seed.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "common/version/version.h"
#include "tests/simulation/cluster.h"

namespace ballast::simulation {
namespace {

constexpr unsigned kHangSeconds = 8;          // of wall time; a life takes some milliseconds
constexpr std::uint64_t kEnoughLives = 2000;  // to speak of shares
constexpr std::size_t kTraceTail = 100;

struct Options {
  bool one_seed = false;
  bool trace = false;
  std::uint64_t first_seed = 1;
  std::uint64_t lives = 0;  // 0: as many as `seconds` allow
  double seconds = 10;
  unsigned jobs = 2;
};

struct Fact {
  const char* name;
  bool LifeFacts::*member;
  double least = 0;  // share of lives, in percent: with fewer the lives prove nothing about it
};
constexpr Fact kFacts[] = {
    {"a superseded node", &LifeFacts::superseded, 1},
    {"a version gone", &LifeFacts::gone, 1},
    {"an older version served", &LifeFacts::served_older, 1},
    {"backup work", &LifeFacts::backup, 1},
    {"a retry", &LifeFacts::retry, 1},
    {"a lost worker", &LifeFacts::lost_worker, 1},
    {"a late joiner", &LifeFacts::late_join, 1},
    {"a deferred reply", &LifeFacts::deferred, 1},
    {"a duplicate", &LifeFacts::duplicate, 1},
    {"waiting for factors", &LifeFacts::waited_for_factors, 1},
    {"a lane that goes on with what an event has left to do", &LifeFacts::went_on, 1},
    {"a shard's death", &LifeFacts::death, 1},
    {"a shard that crashes and comes back", &LifeFacts::shard_crash, 1},
    {"two shards that crash at once", &LifeFacts::double_crash, 1},
    {"a shard that crashes with the lead", &LifeFacts::with_lead, 1},
    {"a lead that crashes alone", &LifeFacts::lead_crash, 1},
    {"unsynced writes lost", &LifeFacts::lost_unsynced, 1},
    {"a rollback to a base past step 0", &LifeFacts::rollback, 1},
    {"a rollback in the midst of a computation", &LifeFacts::mid_compute, 1},
    {"a message of an older timeline", &LifeFacts::stale, 1},
    {"clipping by norm beside a rollback or a crash of the lead", &LifeFacts::clipped, 1},
    {"a step skipped for its gradient", &LifeFacts::skipped, 1},
    {"a rollback for a gradient", &LifeFacts::gradient_rollback, 1},
    {"a halt for a gradient", &LifeFacts::halted, 1},
    {"a snapshot that cannot be written", &LifeFacts::snapshot_failed, 1},
    {"a snapshot missed", &LifeFacts::snapshot_missed, 1},
    {"a snapshot copied by all shards", &LifeFacts::copied, 1},
    {"a shard's copy that fails", &LifeFacts::copy_failed, 1},
    {"copies under a new name, as another job has the first", &LifeFacts::copies_renamed, 1},
    {"a copy given up for a newer snapshot", &LifeFacts::copy_dropped, 1},
    {"a copy that is made across a rollback", &LifeFacts::copy_outlived, 1},
    {"a pause by the user", &LifeFacts::paused, 1},
    {"a cluster resumed as a whole", &LifeFacts::resumed, 1},
    {"a stop that has no patience for its snapshot", &LifeFacts::stopped_without, 0.5},
    {"a stop of a job that is about to finish", &LifeFacts::late_stop, 1},
    {"an early stop", &LifeFacts::early_stop, 1},
    {"the best snapshot kept", &LifeFacts::kept_best, 1},
    {"an update for each item, as it comes", &LifeFacts::async, 1},
    {"an update for each item, within a bound of staleness", &LifeFacts::ssp, 1},
    {"a journal", &LifeFacts::journaled, 1},
    {"a shard that goes on within its timeline", &LifeFacts::resumed_within, 1},
    {"updates replayed from a journal", &LifeFacts::replayed, 1},
    {"a shard's crash after which a journaled job never goes back", &LifeFacts::kept_in_crash, 1},
    {"a power cut that takes what a journal had committed", &LifeFacts::lost_commits, 1},
    {"a disk that had not synced what it said", &LifeFacts::lying_disk, 1},
    {"a rollback because something lost was built upon", &LifeFacts::broken_mark, 1},
    {"such a loss on which nothing was built", &LifeFacts::survived_loss, 1},
    {"a contribution too late for the bound", &LifeFacts::expired, 0.1},
    {"a grant delayed by the bound", &LifeFacts::grant_delayed, 1},
    {"an update from weights two updates old or older", &LifeFacts::two_stale, 1},
    {"an item left out for its gradient", &LifeFacts::item_skipped, 1},
    {"a worker that leaves with a goodbye", &LifeFacts::left, 1},
    {"a link cut in one direction", &LifeFacts::one_way, 1},
    {"a slow link", &LifeFacts::slow_link, 1},
    {"clocks that run at different rates", &LifeFacts::skewed, 1},
    {"a server refused for its initial weights", &LifeFacts::refused_weights, 1},
    {"one refused for those of the job, as another had come before it", &LifeFacts::refused_right, 0.5},
    {"a second server for a shard, not taken", &LifeFacts::second_server, 1},
    {"a shard that comes back without its disk", &LifeFacts::lost_volume, 1},
    {"a server not taken for lack of the snapshot", &LifeFacts::lacked_base, 0.1},
    {"another database in the place of one that was silent", &LifeFacts::displaced, 0.1},
    {"a lead that begins in a pause", &LifeFacts::paused_lead, 1},
    {"a worker refused for its data", &LifeFacts::refused_data, 1},
    {"a worker refused for its arithmetic", &LifeFacts::refused_arithmetic, 1},
    {"two kinds of arithmetic at work", &LifeFacts::mixed_arithmetic, 1},
    {"an end unheard by a worker given up", &LifeFacts::unheard_end},
};
constexpr std::size_t kFactCount = std::size(kFacts);

// What one job tells the parent, in memory that both see.
struct Core {
  const char* name;
  const char* const* states;
  Transitions LifeFacts::*member;
};
constexpr Core kCores[] = {{"lead", kLeadStates.data(), &LifeFacts::lead},
                           {"lane", kLaneStates.data(), &LifeFacts::lane},
                           {"worker", kWorkerStates.data(), &LifeFacts::worker}};
constexpr std::size_t kCoreCount = std::size(kCores);

struct Tally {
  std::uint64_t seed = 0;   // of the life in hand
  std::uint64_t lives = 0;  // in which a fault took effect
  std::uint64_t calm = 0;   // others: judged, but not counted
  std::uint64_t events = 0;
  std::uint64_t time = 0;
  std::uint64_t longest = 0;
  std::uint64_t facts[kFactCount] = {};
  std::uint64_t transitions[kCoreCount][kMostStates][kMostStates] = {};
  char violation[1000] = {};
};
struct Shared {
  std::atomic<bool> broken;  // or interrupted: nobody begins another life
  Tally tallies[64];
};

std::atomic<bool>* interrupted = nullptr;

// Ctrl-C and SIGTERM end the run after the lives in hand; what they have shown is told.
void on_interrupt(int /*signal*/) {
  if (interrupted != nullptr) {
    *interrupted = true;
  }
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Calls with the numbers of a core and of two of its states, for all of them.
template <typename Visit>
void for_each_transition(Visit visit) {
  for (std::size_t core = 0; core < kCoreCount; ++core) {
    for (std::size_t from = 0; from < kMostStates; ++from) {
      for (std::size_t to = 0; to < kMostStates; ++to) {
        visit(core, from, to);
      }
    }
  }
}

void count(Tally& tally, const LifeFacts& facts) {
  if (facts.calm) {
    ++tally.calm;
    return;
  }
  ++tally.lives;
  tally.events += facts.events;
  tally.time += facts.time;
  tally.longest = std::max(tally.longest, facts.time);
  for (std::size_t i = 0; i < kFactCount; ++i) {
    tally.facts[i] += facts.*kFacts[i].member ? 1 : 0;
  }
  for_each_transition([&](std::size_t core, std::size_t from, std::size_t to) {
    tally.transitions[core][from][to] += (facts.*kCores[core].member)[from][to] ? 1 : 0;
  });
}

// Returns the exit status of the job's process.
int run_job(const Options& options, unsigned job, Shared& shared) {
  auto& tally = shared.tallies[job];
  const double end = wall_seconds() + options.seconds;
  for (std::uint64_t i = job; options.lives == 0 || i < options.lives; i += options.jobs) {
    if (shared.broken.load() || (options.lives == 0 && wall_seconds() >= end)) {
      break;
    }
    tally.seed = options.first_seed + i;
    alarm(kHangSeconds);
    try {
      const auto life = draw_life(tally.seed);
      count(tally, Cluster(life).run());
    } catch (const std::exception& error) {
      std::snprintf(tally.violation, sizeof tally.violation, "%s", error.what());
      shared.broken = true;
      return 1;
    }
  }
  return 0;
}

// Lives one life and writes its trace, line by line, so that nothing is lost if the core aborts.
int run_traced(std::uint64_t seed, FILE* out) {
  alarm(kHangSeconds);
  try {
    const auto life = draw_life(seed);
    Cluster cluster(life);
    cluster.trace = [out](const std::string& line) {
      std::fprintf(out, "%s\n", line.c_str());
      std::fflush(out);
    };
    cluster.run();
    std::fprintf(out, "the life is over, no promise was broken\n");
  } catch (const std::exception& error) {
    std::fprintf(out, "VIOLATION: %s\n", error.what());
    std::fflush(out);
    return 1;
  }
  std::fflush(out);
  return 0;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return "a core does not return";
  }
  return std::string("a core crashed: ") + (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
}

void print_tail(FILE* file) {
  std::deque<std::string> lines;
  std::size_t all = 0;
  char line[2000];
  std::rewind(file);
  while (std::fgets(line, sizeof line, file) != nullptr) {
    lines.emplace_back(line);
    ++all;
    if (lines.size() > kTraceTail) {
      lines.pop_front();
    }
  }
  if (all > lines.size()) {
    std::printf("... %zu lines before ...\n", all - lines.size());
  }
  for (const auto& kept : lines) {
    std::fputs(kept.c_str(), stdout);
  }
}

void report_violation(std::uint64_t seed, const std::string& text) {
  std::printf("\nVIOLATION in life %llu (commit %s): %s\n\n", static_cast<unsigned long long>(seed), commit().c_str(),
              text.c_str());
  std::fflush(stdout);
  if (FILE* file = std::tmpfile(); file != nullptr) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(run_traced(seed, file));
    }
    int status = 0;
    waitpid(child, &status, 0);
    print_tail(file);
    std::fclose(file);
  }
  std::printf("\nreplay it with: ballast-simulate --seed %llu --trace\n", static_cast<unsigned long long>(seed));
}

// Whether everything that matters has happened often enough.
bool report(const Options& options, const Shared& shared, double seconds) {
  Tally all;
  for (unsigned job = 0; job < options.jobs; ++job) {
    const auto& tally = shared.tallies[job];
    all.lives += tally.lives;
    all.calm += tally.calm;
    all.events += tally.events;
    all.time += tally.time;
    all.longest = std::max(all.longest, tally.longest);
    for (std::size_t i = 0; i < kFactCount; ++i) {
      all.facts[i] += tally.facts[i];
    }
    for_each_transition([&](std::size_t core, std::size_t from, std::size_t to) {
      all.transitions[core][from][to] += tally.transitions[core][from][to];
    });
  }
  const double lives = std::max<double>(1, static_cast<double>(all.lives));
  std::printf("%llu lives from seed %llu in %.1f s, %.0f a minute; %.0f events and %.0f ms each, at most %llu ms\n",
              static_cast<unsigned long long>(all.lives), static_cast<unsigned long long>(options.first_seed), seconds,
              60 * static_cast<double>(all.lives) / std::max(seconds, 0.001), static_cast<double>(all.events) / lives,
              static_cast<double>(all.time) / lives / 1000, static_cast<unsigned long long>(all.longest / 1000));
  std::printf("  besides %llu in which no fault took effect\n", static_cast<unsigned long long>(all.calm));
  bool enough = true;
  for (std::size_t i = 0; i < kFactCount; ++i) {
    const double share = 100 * static_cast<double>(all.facts[i]) / lives;
    // Three standard errors of what is asked for: a few lives more or less are chance, none of few as well.
    const bool rare = all.lives >= kEnoughLives &&
                      share < kFacts[i].least - 3 * std::sqrt(kFacts[i].least * (100 - kFacts[i].least) / lives);
    std::printf("  %5.1f %% with %s%s\n", share, kFacts[i].name,
                rare ? "  -- too rare: the faults need another mix" : "");
    enough = enough && !rare;
  }
  std::printf("  and of their processes' states, after an event each:\n");
  for_each_transition([&](std::size_t core, std::size_t from, std::size_t to) {
    if (const auto count = all.transitions[core][from][to]; count > 0) {
      std::printf("  %7.3f %% %s: %s -> %s\n", 100 * static_cast<double>(count) / lives, kCores[core].name,
                  kCores[core].states[from], kCores[core].states[to]);
    }
  });
  return enough;
}

int simulate(const Options& options) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("ballast-simulate: no shared memory");
    return 2;
  }
  auto& shared = *new (memory) Shared{};
  interrupted = &shared.broken;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  const double start = wall_seconds();
  std::vector<pid_t> children;
  for (unsigned job = 0; job < options.jobs; ++job) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(run_job(options, job, shared));
    }
    children.push_back(child);
  }
  int result = 0;
  for (unsigned job = 0; job < options.jobs; ++job) {
    int status = 0;
    while (waitpid(children[job], &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
      shared.broken = true;
      const auto& tally = shared.tallies[job];
      report_violation(tally.seed, tally.violation[0] != 0 ? tally.violation : how_it_ended(status));
      result = 1;
    }
  }
  const bool enough = report(options, shared, wall_seconds() - start);
  return enough ? result : 1;
}

int run_one(const Options& options) {
  if (options.trace) {
    std::printf("life %llu, commit %s\n", static_cast<unsigned long long>(options.first_seed), commit().c_str());
    return run_traced(options.first_seed, stdout);
  }
  auto one = options;
  one.lives = 1;
  one.jobs = 1;
  return simulate(one);
}

int usage() {
  std::fputs(
      "ballast-simulate [--seconds S | --lives N] [--first-seed N] [--jobs N]   many lives\n"
      "ballast-simulate --seed N [--trace]                                      one life\n"
      "ballast-simulate --version                                               which Ballast this is\n"
      "Exit status: 0 if no promise was broken, 1 if one was, 2 for wrong arguments.\n",
      stderr);
  return 2;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--trace") {
      options.trace = true;
      continue;
    }
    char* end = nullptr;
    const double value = i + 1 < argc ? std::strtod(argv[++i], &end) : -1;
    if (end == nullptr || *end != 0 || end == argv[i] || !(value >= 0 && value <= 1e15)) {
      return false;
    }
    if (name == "--seed") {
      options.one_seed = true;
      options.first_seed = static_cast<std::uint64_t>(value);
    } else if (name == "--first-seed") {
      options.first_seed = static_cast<std::uint64_t>(value);
    } else if (name == "--seconds") {
      options.seconds = value;
    } else if (name == "--lives") {
      options.lives = static_cast<std::uint64_t>(value);
    } else if (name == "--jobs") {
      options.jobs = static_cast<unsigned>(std::clamp(value, 1.0, 64.0));
    } else {
      return false;
    }
  }
  return !options.trace || options.one_seed;
}

}  // namespace
}  // namespace ballast::simulation

int main(int argc, char** argv) {
  using namespace ballast::simulation;  // NOLINT(google-build-using-namespace)
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("ballast-simulate %s\n", ballast::version().c_str());
    return 0;
  }
  Options options;
  if (!parse(argc, argv, options)) {
    return usage();
  }
  return options.one_seed ? run_one(options) : simulate(options);
}
