#include "common/usage/usage.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace ballast {
namespace {

const ManWords kWords{"What it is for.", {{"0", "done"}}, {"other(1)"}};

// A program with all that the tables of Ballast's programs have.
class Program {
 public:
  Program() : app("does things", "tool") {
    auto* const go = app.add_subcommand("go", "go there");
    go->add_option("place", place_, "where to")->required();
    go->add_option("--how", how_, "slow (default) or fast; not 'both' [yet]: one")
        ->check(CLI::IsMember({"slow", "fast"}));
    go->add_option("--count", count_, "so many");
    go->add_flag("-q,--quiet", quiet_, "say nothing");
    go->add_option("--fault", how_, "for tests")->group("");
    auto* const list = app.add_subcommand("list", "list things");
    list->add_subcommand("prune", "remove things")->add_flag("--yes", quiet_, "really");
    add_usage_options(app, kWords);
  }

  CLI::App app;

 private:
  std::string place_;
  std::string how_;
  unsigned count_ = 0;
  bool quiet_ = false;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What bash offers for the last of the words.
std::string offered(const std::string& script, const std::string& words) {
  const auto command = "bash -c '" + std::string("source /dev/fd/3; COMP_WORDS=(") + words +
                       "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tool; echo \"${COMPREPLY[*]}\"' 3<<'END'\n" +
                       script + "END\n";
  std::FILE* const pipe = popen(command.c_str(), "r");  // NOLINT: the words are ours
  REQUIRE(pipe != nullptr);
  std::string answer;
  for (int byte = 0; (byte = std::fgetc(pipe)) != EOF;) {
    answer += static_cast<char>(byte);
  }
  CHECK(pclose(pipe) == 0);
  return answer.substr(0, answer.find('\n'));
}

TEST_CASE("the man page has every command and option that users see, and no other") {
  const Program program;
  const auto page = man_page(program.app, kWords);
  CHECK(page.starts_with(".TH TOOL 1 "));
  CHECK(holds(page, ".SH NAME\ntool \\- does things\n"));
  CHECK(holds(page, ".SS \\fBtool go\\fR \\fIPLACE\\fR [\\fIOPTION\\fR]...\n"));
  CHECK(holds(page, "\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR\nsay nothing\n"));
  CHECK(holds(page, "\\fB\\-\\-count\\fR \\fIN\\fR\nso many\n"));
  CHECK(holds(page, ".SS \\fBtool list prune\\fR"));
  CHECK(holds(page, ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n"));
  CHECK_FALSE(holds(page, "\\-fault"));
}

TEST_CASE("bash is offered commands, options, choices and files, each where it may stand") {
  const Program program;
  const auto script = completion(program.app, "bash");
  CHECK(offered(script, "tool \"\"") == "go list");
  CHECK(offered(script, "tool l") == "list");
  CHECK(offered(script, "tool list \"\"") == "prune");
  CHECK(offered(script, "tool list prune --y") == "--yes");
  CHECK(offered(script, "tool go --q") == "--quiet");
  CHECK(offered(script, "tool go there --how \"\"") == "slow fast");
  CHECK(offered(script, "tool go --count \"\"").empty());
  CHECK(offered(script, "tool go /etc/host").find("/etc/host") == 0);
  CHECK(offered(script, "tool --completion z") == "zsh");
}

TEST_CASE("zsh and fish get the same words, quoted for them") {
  const Program program;
  const auto zsh = completion(program.app, "zsh");
  CHECK(zsh.starts_with("#compdef tool\n"));
  CHECK(holds(zsh, "'--how[slow (default) or fast; not '\\''both'\\'' \\[yet\\]\\: one]:HOW:(slow fast)'"));
  CHECK(holds(zsh, "    'go:go there'\n"));
  const auto fish = completion(program.app, "fish");
  CHECK(holds(fish, "complete -c tool -n 'not __fish_seen_subcommand_from go list' -a go -d 'go there'\n"));
  CHECK(holds(fish, "complete -c tool -n '__fish_seen_subcommand_from go' -l how -x -a 'slow fast' -d "));
  CHECK(holds(fish, "-n '__fish_seen_subcommand_from list; and __fish_seen_subcommand_from prune' -l yes"));
  CHECK_FALSE(holds(zsh, "--fault"));
  CHECK_FALSE(holds(fish, "-l fault"));
  CHECK_THROWS_AS(completion(program.app, "tcsh"), std::invalid_argument);
}

TEST_CASE("what is asked for on the command line is printed, whatever else is required") {
  CLI::App app("needs much", "needy");
  std::string place;
  app.add_option("--place", place, "where")->required();
  add_usage_options(app, kWords);
  CHECK_THROWS_AS(app.parse("--man", false), CLI::Success);
  CHECK_THROWS_AS(app.parse("--completion fish", false), CLI::Success);
  CHECK_THROWS_AS(app.parse("--completion tcsh", false), CLI::ValidationError);
  CHECK_THROWS_AS(app.parse("", false), CLI::RequiredError);
}

}  // namespace
}  // namespace ballast
