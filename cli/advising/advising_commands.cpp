#include "cli/advising/advising_commands.h"

#include <string>
#include <tuple>
#include <vector>

#include "common/command/command_line.h"

namespace ballast {
namespace {

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "replace a value of the job file, as often as wanted")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

void add_computing(CLI::App& command, std::string& data, std::string& backend) {
  command.add_option("--data", data, "folder of the data files on this machine, as of ballast-worker")
      ->check(CLI::ExistingPath);
  command.add_option("--backend", backend, "what slots are computed on: auto (default), cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
}

}  // namespace

void AdvisingCommands::define_probe(CLI::App& app) {
  auto* probe = app.add_subcommand("probe", "measure what this machine can do for a job, for `ballast advise`");
  auto* job = probe->add_option("job", probe_.job, "the job file");
  add_overrides(*probe, probe_.overrides);
  auto* role = probe->add_option("--as", probe_.role, "what the machine is for: server, worker or both (default)")
                   ->check(CLI::IsMember({"server", "worker", "both"}));
  add_computing(*probe, probe_.data_path, probe_.backend);
  probe->add_option("--device", probe_.device, "which GPU, as CUDA counts them")->check(CLI::Range(63));
  probe->add_option("--seconds", probe_.seconds, "compute slots for so long (default 2)")
      ->check(CLI::Range(0.1, 600.0));
  auto* to = probe
                 ->add_option("--to", probe_.to,
                              "measure the link to the machine where `ballast probe --listen` runs, as often as wanted")
                 ->type_name("HOST:PORT")
                 ->check(check_host_port)
                 ->expected(1)
                 ->take_all();
  auto* output = probe->add_option("-o,--output", probe_.output, "the file that is written (default: standard output)")
                     ->type_name("FILE");
  auto* listen = probe
                     ->add_option("--listen", probe_.listen,
                                  "be the other end of links that are measured, until Ctrl-C or for an hour, and "
                                  "nothing else; port 0 takes a free one")
                     ->type_name("HOST:PORT")
                     ->check(check_host_port);
  for (auto* other : {job, role, to, output}) {
    listen->excludes(other);
  }
  probe->callback([job, listen] {
    if (job->empty() && listen->empty()) {
      throw CLI::RequiredError("a job file, or --listen with HOST:PORT,");
    }
  });
}

void AdvisingCommands::define_advise(CLI::App& app) {
  auto* advise = app.add_subcommand(
      "advise", "say before a job runs how many shards, lanes and workers pay, and how long its steps will take");
  advise->add_option("job", advise_.job, "the job file")->required();
  add_overrides(*advise, advise_.overrides);
  for (const auto& [name, target, about] :
       {std::tuple("--server", &advise_.servers, "a file of `ballast probe` of a server's machine, as often as wanted"),
        std::tuple("--worker", &advise_.workers, "the same of a worker's machine; without both this one is probed")}) {
    advise->add_option(name, *target, about)->type_name("FILE")->expected(1)->take_all();
  }
  constexpr std::uint32_t kMostMachines = 65'536;
  advise
      ->add_option("--servers", advise_.server_machines,
                   "machines for servers, at most (default: as many as files, or as the job has shards)")
      ->check(CLI::Range(1U, kMostMachines));
  advise
      ->add_option("--workers", advise_.worker_machines,
                   "machines for workers, at most; without files: processes (default: as many as files, or as the "
                   "job has workers; without files: or as there are processors)")
      ->check(CLI::Range(1U, kMostMachines));
  constexpr double kMostMbit = 1e9;
  advise
      ->add_option("--server-mbit", advise_.server_mbit,
                   "what the link of a server's machine carries, in megabits a second each way")
      ->check(CLI::Range(0.001, kMostMbit));
  add_computing(*advise, advise_.data_path, advise_.backend);
  advise->add_option("--seconds", advise_.seconds, "begin no replay after so long (default 20)")
      ->check(CLI::Range(0.1, 3600.0));
  advise->add_flag("--json", advise_.json, "as one JSON object, with all that was tried");
}

void AdvisingCommands::define(CLI::App& app) {
  define_probe(app);
  define_advise(app);
}

std::optional<int> AdvisingCommands::dispatch(const CLI::App& app) const {
  if (app.got_subcommand("probe")) {
    return probe(probe_);
  }
  if (app.got_subcommand("advise")) {
    return advise(advise_);
  }
  return std::nullopt;
}

}  // namespace ballast
