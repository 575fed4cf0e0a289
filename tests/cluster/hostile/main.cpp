// ballast-hostile [--keys FILE] ...: with that key, where a line has none of its own
// ballast-hostile LEAD roots SESSION [COUNT]    roots of its own invention, of COUNT steps (4)
// ballast-hostile LEAD results SECONDS          results of evaluations that nobody has asked it for
// ballast-hostile LEAD evaluates FINGERPRINT DATA SECONDS   wrong results of evaluations that it was asked for
// ballast-hostile LEAD mark SESSION             a contribution with a mark that is false
// ballast-hostile LEAD names COUNT BYTES        hellos of so many sessions, each with a name of so many bytes
// ballast-hostile - pull                        prints a pull of a version that is gone, in hexadecimal digits
// ballast-hostile ADDRESS parts KEY HELLO SECONDS   messages without end, after a hello if that is 1
// ballast-hostile ADDRESS twins KEY SECONDS   messages over connections whose name another one has, which then end
// ballast-hostile LEAD owe COUNT SECONDS KEY ...    so many sessions that offer contributions and never pay
// ballast-hostile LEAD habit NAME SESSIONS SECONDS KEY   sessions of one key that do the same when they are called
// ballast-hostile LEAD mixture SECONDS SEED KEY [FINGERPRINT DATA [SESSION ...]]   everything, at random
//
// Prints a line for each thing that came of it; exit code 1: a lane or the lead did not answer, or did not let it in.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tests/cluster/hostile/hostile.h"
#include "tests/cluster/malformed/probe.h"

namespace {

using namespace ballast;           // NOLINT: this program is about ballast
using namespace ballast::hostile;  // NOLINT

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }
constexpr int kMostSockets = 8192;

double seconds(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

bool run(zmq::context_t& context, const std::string& lead, const std::string& what,
         const std::vector<std::string>& rest) {
  const auto count = rest.size();
  if (what == "roots" && count >= 1 && count <= 2) {
    push_roots(context, lead, number(rest[0]), count >= 2 ? number(rest[1]) : 4);
  } else if (what == "results" && count == 1) {
    flood_results(context, lead, seconds(rest[0]));
  } else if (what == "evaluates" && count == 3) {
    answer_evaluations(context, lead, rest[0], rest[1], seconds(rest[2]));
  } else if (what == "mark" && count == 1) {
    push_mark(context, lead, number(rest[0]));
  } else if (what == "names" && count == 2) {
    say_names(context, lead, number(rest[0]), number(rest[1]));
  } else if (what == "pull" && count == 0) {
    print_pull();
  } else if (what == "parts" && count == 3) {
    send_parts(context, lead, rest[0], rest[1] == "1", seconds(rest[2]));
  } else if (what == "twins" && count == 2) {
    send_by_twins(context, lead, rest[0], seconds(rest[1]));
  } else if (what == "owe" && count >= 3) {
    owe(context, lead, number(rest[0]), seconds(rest[1]), {rest.begin() + 2, rest.end()});
  } else if (what == "habit" && count == 4) {
    keep_to_habit(context, lead, {rest[0], number(rest[1]), seconds(rest[2]), rest[3]});
  } else if (what == "mixture" && count >= 3) {
    send_mixture(context, lead, {seconds(rest[0]), number(rest[1]), rest[2], {rest.begin() + 3, rest.end()}});
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    zmq::context_t context(1, kMostSockets);
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() > 1 && words[0] == "--keys") {
      malformed::Probe::use_key(words[1]);
      words.erase(words.begin(), words.begin() + 2);
    }
    if (words.size() > 1 && run(context, words[0], words[1], {words.begin() + 2, words.end()})) {
      return 0;
    }
    std::fputs("usage: see the first lines of tests/cluster/hostile/main.cpp\n", stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast-hostile: %s\n", error.what());
    return 1;
  }
}
