#include "cli/rendering/render_commands.h"

#include <charconv>
#include <limits>
#include <tuple>

#include "cli/rendering/render.h"
#include "common/command/usage_error.h"

namespace ballast {

namespace {

constexpr std::uint32_t kMostGpus = 16;

void define_common(CLI::App& command, RenderOptions& options, std::string& memory, const char* place,
                   const char* secret) {
  const std::string of(place);
  command.add_option("job", options.job, "the job file")->required();
  command.add_option("--set", options.overrides, "replace a value of the job file: KEY.PATH=VALUE, as often as wanted")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  command.add_option("--registry", options.registry, "where images are: REGISTRY/server, ... (default ballast)");
  command.add_option("--tag", options.tag, "of the images (default latest)");
  command.add_option("--gpus", options.gpus, "GPUs of each worker, which then computes on nothing else (default 0)")
      ->check(CLI::Range(0U, kMostGpus));
  command
      .add_option("--worker-memory", memory,
                  "memory that a worker may take (default: by the plan, and 1Gi for activations)")
      ->type_name("SIZE");
  command.add_option("--data", options.data, of + " of the data files, which workers read");
  command.add_option("--copies", options.copies, of + " that durability.copy_to means in the containers");
  command.add_option("--copy-key", options.copy_key,
                     std::string(secret) + " with the file of durability.copy_key_file");
  command.add_option("--s3-credentials", options.s3_credentials,
                     std::string(secret) + " with the file of durability.s3_credentials_file");
  command.add_option("--initial", options.initial, of + " with the file of training.init_from");
}

void define_kubernetes(CLI::App& command, RenderOptions& options) {
  command.add_option("--name", options.name, "what the objects' names begin with (default: the job's name)");
  command.add_option("-o,--output", options.output, "a file (default: standard output)")->type_name("FILE");
  command.add_option("--server-cpu", options.server_cpu, "processors that a server asks for (default 500m)");
  command.add_option("--worker-cpu", options.worker_cpu, "processors that a worker asks for (default 1)");
  command.add_option("--storage-class", options.storage_class, "of the servers' claims (default: the cluster's)");
  command.add_option(
      "--s3-secret", options.s3_secret,
      "the Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for durability.copy_to: s3://... of a job "
      "without durability.s3_credentials_file");
  command.add_option("--server-secret", options.server_secret,
                     "the Secret with server.key and allowed.keys (default: NAME-server-keys)");
  command.add_option("--worker-secret", options.worker_secret,
                     "the Secret with worker.key (default: NAME-worker-keys)");
  command.add_option("--server-priority", options.server_priority, "PriorityClass of servers");
  command.add_option("--worker-priority", options.worker_priority, "PriorityClass of workers");
  for (const auto& [name, target, about, type] :
       {std::tuple("--worker-toleration", &options.worker_tolerations,
                   "a taint of nodes that workers may run on all the same; as often as wanted", "KEY[=VALUE][:EFFECT]"),
        std::tuple("--worker-node", &options.worker_nodes,
                   "a label of the nodes that workers run on; as often as wanted", "KEY=VALUE")}) {
    command.add_option(name, *target, about)->type_name(type)->expected(1)->take_all();
  }
  command.add_option("--queue", options.queue, "Kueue's LocalQueue: the job starts when it has room");
  command.add_option("--prometheus-namespace", options.prometheus_namespace,
                     "whose pods may read metrics (default monitoring)");
  command.add_flag("--monitors", options.monitors, "with a ServiceMonitor and a PodMonitor of the Prometheus operator");
  auto* weights = command.add_flag("--weights", options.weights,
                                   "nothing but the Job that reads the weights once the job has finished");
  command.add_option("--weights-claim", options.weights_claim, "with --weights: write them there, as NAME.safetensors")
      ->needs(weights);
}

}  // namespace

std::uint64_t parse_quantity(const std::string& text, const std::string& option) {
  std::uint64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const std::uint64_t factor = unit.empty() ? 1 : unit == "Mi" ? 1ULL << 20 : unit == "Gi" ? 1ULL << 30 : 0;
  if (error != std::errc() || factor == 0 || number == 0 ||
      number > std::numeric_limits<std::uint32_t>::max() * (1ULL << 20) / factor) {
    throw UsageError(option + " " + text + ": it is no size; say it like 3Gi, 512Mi or 1500000000 (bytes)");
  }
  return number * factor;
}

void RenderCommands::define(CLI::App& app) {
  auto* render = app.add_subcommand("render", "write a job as what starts it on Kubernetes or with docker compose");
  render->require_subcommand(1);
  auto* kubernetes = render->add_subcommand("kubernetes", "objects for kubectl apply");
  define_common(*kubernetes, kubernetes_, worker_memory_, "claim", "the Secret");
  define_kubernetes(*kubernetes, kubernetes_);
  kubernetes->add_option("--peers", peers_, "how pods find each other: names (DNS, default) or variables")
      ->check(CLI::IsMember({"names", "variables"}));
  kubernetes->add_option("--format", format_, "yaml (default) or json")->check(CLI::IsMember({"yaml", "json"}));
  auto* compose = render->add_subcommand("compose", "a folder for docker compose");
  define_common(*compose, compose_, worker_memory_, "folder of this machine", "folder of this machine");
  compose->add_option("-o,--output", compose_.output, "the folder: compose.yaml and job.yaml")
      ->required()
      ->type_name("FOLDER");
}

std::optional<int> RenderCommands::dispatch(const CLI::App& app) const {
  if (!app.got_subcommand("render")) {
    return std::nullopt;
  }
  const bool is_compose = app.get_subcommand("render")->got_subcommand("compose");
  auto options = is_compose ? compose_ : kubernetes_;
  if (!worker_memory_.empty()) {
    options.worker_memory = parse_quantity(worker_memory_, "--worker-memory");
  }
  options.peers = peers_ == "names" ? PeerLookup::names : PeerLookup::variables;
  options.json = format_ == "json";
  return is_compose ? render_compose(options) : render_kubernetes(options);
}

}  // namespace ballast
