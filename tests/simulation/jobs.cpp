#include "tests/simulation/jobs.h"

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <string>
#include <vector>

#include "common/version/version.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/tally.h"

namespace ballast::simulation {

namespace {

constexpr unsigned kHangSeconds = 8;  // of a processor; a life takes some milliseconds
constexpr std::size_t kTraceTail = 100;

// What one job tells the parent, in memory that both see.
struct Job {
  std::uint64_t seed = 0;  // of the life in hand
  Tally tally;
  char violation[1000] = {};
};
struct Shared {
  std::atomic<bool> broken;  // or interrupted: nobody begins another life
  Job jobs[kMostJobs];
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

std::uint64_t seed_of(const Options& options, std::uint64_t life) {
  return life < options.seeds.size() ? options.seeds[life] : options.first_seed + (life - options.seeds.size());
}

// Ends the process when the life at hand has computed for so long: time on the wall says nothing on a busy machine.
void limit_processor_time() {
  const itimerval limit{{}, {kHangSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

// Returns the exit status of the job's process.
int run_job(const Options& options, unsigned job, Shared& shared) {
  auto& told = shared.jobs[job];
  const double end = wall_seconds() + options.seconds;
  for (std::uint64_t i = job; options.lives == 0 || i < options.lives; i += options.jobs) {
    if (shared.broken.load() || (options.lives == 0 && wall_seconds() >= end)) {
      break;
    }
    told.seed = seed_of(options, i);
    limit_processor_time();
    try {
      const auto life = draw_life(told.seed);
      told.tally.count(Cluster(life).run());
    } catch (const std::exception& error) {
      std::snprintf(told.violation, sizeof told.violation, "%s", error.what());
      shared.broken = true;
      return 1;
    }
  }
  return 0;
}

// Lives one life and writes its trace, line by line, so that nothing is lost if the core aborts.
int run_traced(std::uint64_t seed, FILE* out) {
  limit_processor_time();
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
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) {
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

}  // namespace

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
      const auto& told = shared.jobs[job];
      report_violation(told.seed, told.violation[0] != 0 ? told.violation : how_it_ended(status));
      result = 1;
    }
  }
  if (result != 0) {
    return result;  // what broke is the last that is said: a log may be cut
  }
  Tally all;
  for (unsigned job = 0; job < options.jobs; ++job) {
    all.add(shared.jobs[job].tally);
  }
  return report(all, options.first_seed, wall_seconds() - start) ? 0 : 1;
}

int simulate_one(const Options& options) {
  if (options.trace) {
    std::printf("life %llu, commit %s\n", static_cast<unsigned long long>(options.first_seed), commit().c_str());
    return run_traced(options.first_seed, stdout);
  }
  auto one = options;
  one.lives = 1;
  one.jobs = 1;
  return simulate(one);
}

}  // namespace ballast::simulation
