// ballast: the command line.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/advising/advising_commands.h"
#include "cli/asking/analyze.h"
#include "cli/asking/control.h"
#include "cli/asking/doctor.h"
#include "cli/asking/scale.h"
#include "cli/asking/status.h"
#include "cli/asking/top.h"
#include "cli/asking/trace.h"
#include "cli/asking/watch.h"
#include "cli/before/check.h"
#include "cli/before/not_negative.h"
#include "cli/data/data.h"
#include "cli/data/describe.h"
#include "cli/data/make_files.h"
#include "cli/keys/keygen.h"
#include "cli/models/digest.h"
#include "cli/models/model_commands.h"
#include "cli/models/restore.h"
#include "cli/rendering/render_commands.h"
#include "cli/resharding/reshard.h"
#include "cli/resharding/shard_count.h"
#include "cli/running/run.h"
#include "common/command/command_line.h"
#include "common/net/descriptors.h"
#include "common/usage/usage.h"
#include "worker/data/text/byte_pairs.h"
#include "worker/data/text/vocabulary.h"

namespace {

constexpr const char* kSetHelp = "replace a value of the job file: KEY.PATH=VALUE, as often as wanted";

struct CheckOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool worker = false;
  bool shapes = false;
  bool data = false;
  bool examples = false;

  [[nodiscard]] ballast::DataLook look() const {
    return examples ? ballast::DataLook::examples : data ? ballast::DataLook::opened : ballast::DataLook::none;
  }
};

// INDEX:POINT
std::pair<std::uint32_t, std::string> parse_fault(const char* option, const std::string& text) {
  const auto colon = text.find(':');
  const auto digits = text.substr(0, colon);
  if (colon == std::string::npos || digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    throw CLI::ValidationError(option, "'" + text + "' is not INDEX:POINT");
  }
  return {static_cast<std::uint32_t>(std::stoul(digits)), text.substr(colon + 1)};
}

// `take` is given each fault in turn.
template <typename Take>
void define_faults(CLI::App& run, const char* option, const char* about, Take take) {
  run.add_option_function<std::vector<std::string>>(
         option,
         [option, take](const std::vector<std::string>& texts) {
           for (const auto& text : texts) {
             take(parse_fault(option, text));
           }
         },
         about)
      ->expected(1)
      ->take_all()
      ->group("");
}

void define_check(CLI::App& app, CheckOptions& options) {
  auto* check = app.add_subcommand("check", "check a job or worker file and say what it would do");
  check->add_option("file", options.file, "the file")->required();
  auto* worker = check->add_flag("--worker", options.worker, "it is a worker file");
  auto* shapes =
      check->add_flag("--shapes", options.shapes, "show the network's layers: shapes, parameters, multiplications")
          ->excludes(worker);
  check->add_flag("--data", options.data, "open the job's data as workers would, and count what is there")
      ->excludes(worker)
      ->excludes(shapes);
  check->add_flag("--examples", options.examples, "the same, and read every example: each corrupt one is named")
      ->excludes(worker)
      ->excludes(shapes);
  check->add_option("--set", options.overrides, kSetHelp)->type_name("KEY=VALUE")->expected(1)->take_all();
}

void define_show(CLI::App& command, ballast::ShowOptions& options) {
  command.add_flag("-q,--quiet", options.quiet, "print nothing but what is wrong, on standard error");
  command.add_flag("--timestamps", options.timestamps, "begin each line with its time (UTC)");
  command.add_option("--color", options.color, "auto (default: on a terminal), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command.add_option("--events", options.events, "append what happens to this file or pipe, as JSON lines")
      ->type_name("FILE");
}

void define_run(CLI::App& app, ballast::RunOptions& options) {
  auto* run = app.add_subcommand("run", "run a job on a cluster of processes on this machine");
  auto* job = run->add_option("job", options.job, "the job file");
  auto* resume = run->add_option("--resume", options.resume, "go on with the run in this folder, from its snapshot");
  run->add_option("--workers", options.workers, "worker processes (cluster.workers)");
  run->add_option("--shards", options.shards, "server processes (cluster.shards)");
  run->add_option("--lanes", options.lanes, "threads of each server (cluster.lanes)");
  run->add_option("--set", options.overrides, kSetHelp)->type_name("KEY=VALUE")->expected(1)->take_all();
  run->add_option("--run-dir", options.run_dir, "folder for databases and logs (default: a new one in ./runs)")
      ->excludes(resume);
  run->add_option("--summary", options.summary, "write what came of it to this file, as JSON");
  run->add_option("--backend", options.backend, "what workers compute on: auto (default), cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  run->add_flag("--metrics", options.metrics, "every process serves Prometheus metrics; processes.json says where");
  run->add_flag("--page", options.page, "the lead serves the job's web page on loopback; a line says where");
  run->add_flag("--watch", options.watch,
                "--metrics, and a Prometheus of the run's own asks for them, if one is installed");
  run->add_flag("--hold-start", options.hold_start, "begin to train only when all workers are ready");
  define_show(*run, options.show);
  define_faults(*run, "--worker-fault", "for tests: INDEX:POINT@STEP at which a worker kills itself",
                [&options](auto fault) { options.worker_faults.insert(std::move(fault)); });
  define_faults(*run, "--server-fault",
                "for tests: SHARD:POINT at which a server kills itself; given again: in its next life",
                [&options](auto fault) { options.server_faults[fault.first].push_back(std::move(fault.second)); });
  run->callback([job, resume] {
    if (job->empty() && resume->empty()) {
      throw CLI::RequiredError("a job file, or --resume with the folder of a run,");
    }
  });
}

constexpr const char* kWhereHelp = "the run's folder, or the lead's address";

void add_keys(CLI::App& command, std::string& keys) {
  command
      .add_option(
          "--keys", keys,
          "file of an operator's keys (ballast keygen); a run of this machine over tcp has its own in its folder")
      ->check(CLI::ExistingFile);
}

void define_keygen(CLI::App& app, ballast::KeygenOptions& options) {
  auto* keygen = app.add_subcommand("keygen", "make the keys of a job's servers, workers and operators, or of copies");
  auto* folder = keygen->add_option("folder", options.folder, "where they lie; made if need be, for its owner alone");
  auto* copies = keygen
                     ->add_option("--copies", options.copies,
                                  "make the file of the key by which copies are encrypted (durability.copy_key_file), "
                                  "and nothing else")
                     ->type_name("FILE");
  keygen->add_flag("--next", options.next_copy_key, "of such a file that is there: put a new key before those in it")
      ->needs(copies);
  auto* workers = keygen
                      ->add_option("--workers", options.workers,
                                   "a key of its own for each of so many workers (default: one for all)")
                      ->check(CLI::Range(1U, 65'536U));
  auto* worker =
      keygen->add_option("--add-worker", options.worker, "add a worker's key of this name")->type_name("NAME");
  auto* command =
      keygen->add_option("--add-operator", options.command, "add an operator's key of this name")->type_name("NAME");
  auto* next = keygen->add_flag("--next-server", options.next_server,
                                "make the servers' next key, and tell all files of it: the first half of a change");
  auto* forget = keygen->add_flag("--forget-servers", options.forget_servers,
                                  "forget every key of servers but that in server.key: the second half");
  for (auto* option : {worker, command, next, forget}) {
    option->excludes(workers);
  }
  for (auto* option : {folder, workers, worker, command, next, forget}) {
    option->excludes(copies);
  }
  keygen->callback([folder, copies] {
    if (folder->empty() && copies->empty()) {
      throw CLI::RequiredError("a folder, or --copies with a file,");
    }
  });
  worker->excludes(command)->excludes(next)->excludes(forget);
  command->excludes(next)->excludes(forget);
  next->excludes(forget);
}

struct StatusOptions {
  std::string where;
  std::string keys;
  bool json = false;
};

void define_status(CLI::App& app, StatusOptions& options) {
  auto* status = app.add_subcommand("status", "ask a running job's lead how it stands");
  status->add_option("where", options.where, kWhereHelp)->required();
  status->add_flag("--json", options.json, "as one JSON object");
  add_keys(*status, options.keys);
}

void define_watch(CLI::App& app, ballast::WatchOptions& options) {
  auto* watch = app.add_subcommand("watch", "show a running job's course until its end, however it was started");
  watch->add_option("where", options.where, kWhereHelp)->required();
  watch->add_option("--patience", options.patience, "seconds that the lead may be silent (default 600)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 31'536'000));
  add_keys(*watch, options.keys);
  define_show(*watch, options.show);
}

void define_trace(CLI::App& app, ballast::TraceOptions& options) {
  auto* trace = app.add_subcommand(
      "trace",
      "write what all processes have measured of a running job's last steps, for Perfetto or chrome://tracing");
  trace->add_option("where", options.where, kWhereHelp)->required();
  trace->add_option("--steps", options.steps, "of the newest so many steps (default 20)")
      ->check(CLI::Range(1, 1'000'000));
  trace
      ->add_option("-o,--output", options.output,
                   "the file that is written (default trace.json; with --raw raw-trace.json); -: standard output")
      ->type_name("FILE");
  trace->add_flag("--raw", options.raw, "as `ballast analyze` reads it");
  add_keys(*trace, options.keys);
}

void define_analyze(CLI::App& app, ballast::AnalyzeOptions& options) {
  auto* analyze = app.add_subcommand(
      "analyze",
      "say which worker, link or shard of a running job is slower than its peers, what that costs, and what to change");
  analyze
      ->add_option("where", options.where, "the run's folder, the lead's address, or a file of `ballast trace --raw`")
      ->required();
  analyze->add_option("--steps", options.steps, "by windows of so many steps (default 20)")->check(CLI::Range(4, 200));
  analyze->add_option("--windows", options.windows, "the newest so many windows, for what lasts (default 3)")
      ->check(CLI::Range(1, 10));
  analyze->add_flag("--follow", options.follow, "again with each window that is done, until the job ends");
  analyze->add_flag("--all", options.all, "show what is as fast as its peers as well");
  analyze->add_flag("--json", options.json, "all of it, one JSON object a line");
  add_keys(*analyze, options.keys);
}

void define_doctor(CLI::App& app, ballast::DoctorOptions& options) {
  auto* doctor = app.add_subcommand("doctor", "say why a running job makes no progress, and what its processes do");
  doctor->add_option("where", options.where, kWhereHelp)->required();
  doctor->add_option("--seconds", options.seconds, "look at it for so long (default 3)")
      ->check(CLI::Range(0.1, 3600.0));
  doctor->add_flag("--json", options.json, "one JSON object");
  add_keys(*doctor, options.keys);
}

void define_top(CLI::App& app, ballast::TopOptions& options) {
  auto* top =
      app.add_subcommand("top", "show a running job's workers live in this terminal, to be sorted and analyzed");
  top->add_option("where", options.where, kWhereHelp)->required();
  top->add_option("--every", options.every, "seconds between two looks (default 1)")->check(CLI::Range(0.1, 3600.0));
  top->add_flag("--once", options.once, "print one look as plain lines");
  add_keys(*top, options.keys);
}

struct ControlCommand {
  const char* name;
  ballast::Control::Command command;
  const char* about;
};

constexpr ControlCommand kControlCommands[] = {
    {"stop", ballast::Control::Command::stop, "stop a running job with a snapshot, from which it can be resumed"},
    {"pause", ballast::Control::Command::pause, "let a running job hold at a snapshot"},
    {"resume", ballast::Control::Command::resume, "let a paused job go on"},
};

void define_controls(CLI::App& app, std::string& where, std::string& keys) {
  for (const auto& control : kControlCommands) {
    auto* command = app.add_subcommand(control.name, control.about);
    command->add_option("where", where, kWhereHelp)->required();
    add_keys(*command, keys);
  }
}

void define_scale(CLI::App& app, ballast::ScaleOptions& options) {
  auto* scale = app.add_subcommand("scale", "change how many workers a `ballast run` of this machine has");
  scale->add_option("run", options.folder, "the run's folder")->required();
  scale->add_option("--workers", options.workers, "how many from now on; 0: the job waits")
      ->required()
      ->check(CLI::Range(0U, ballast::kMostLocalWorkers));
  scale->add_option("--patience", options.patience, "seconds to wait until they are there, or gone (default 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86'400));
}

struct DigestOptions {
  std::string folder;
  std::optional<ballast::Step> step;
};

void define_digest(CLI::App& app, DigestOptions& options) {
  auto* digest = app.add_subcommand("digest", "the digests of a run's weights, read from its databases");
  digest->add_option("folder", options.folder, "the run's folder")->required();
  digest->add_option("--step", options.step, "of the complete snapshot of this step (default: of the finished job)")
      ->check(ballast::not_negative);
}

void define_restore(CLI::App& app, ballast::RestoreCommand& command) {
  auto* restore = app.add_subcommand("restore", "build a run's folder anew from copies of its snapshots");
  restore->add_option("copies", command.copies, "where they are: a folder, or s3://BUCKET/PREFIX")->required();
  restore->add_option("--run-dir", command.run_dir, "the folder to build; it holds no run yet");
  restore->add_flag("--list", command.list, "only say which copies there are");
  restore->add_option("--step", command.step, "the copy of this step (default: the newest that can be used)")
      ->check(ballast::not_negative);
  restore
      ->add_option("--run", command.run, "the copies of this run, where there are those of several (--list shows them)")
      ->type_name("ID");
  restore
      ->add_option("--s3-credentials-file", command.s3_credentials_file,
                   "the keys of an s3:// place, as ~/.aws/credentials has them (default: in the environment)")
      ->check(CLI::ExistingFile);
  auto* key = restore
                  ->add_option("--copy-key-file", command.copy_key_file,
                               "the keys of copies that are encrypted, as the job's durability.copy_key_file")
                  ->check(CLI::ExistingFile);
  restore
      ->add_flag("--accept-plain", command.accept_plain,
                 "with --copy-key-file: copies that are not encrypted as well, for a run that was not at first")
      ->needs(key);
  restore->add_option("--s3-endpoint", command.s3_endpoint, "where an s3:// place is, e.g. https://s3.example.org");
}

void define_reshard(CLI::App& app, ballast::ReshardCommand& command) {
  auto* const reshard = app.add_subcommand("reshard", "give a stopped run another number of shards");
  reshard->add_option("run", command.run, "the run's folder")->required();
  reshard->add_option("--shards", command.shards, "how many it has from now on")
      ->required()
      ->type_name("M")
      ->check(ballast::shard_count_fault);
  reshard->add_option("-o,--output", command.output, "make a new run's folder of it, and leave this one as it is")
      ->type_name("NEW");
  reshard->add_flag("--drop-updates", command.drop_updates,
                    "of a journaled run: without the updates that came after the newest complete snapshot");
}

void define_strip(CLI::App& command, ballast::StripSpec& strip) {
  command.add_flag("--strip-headers", strip.headers, "of texts: as data.strip.headers");
  command.add_flag("--strip-quotes", strip.quotes, "of texts: as data.strip.quotes");
  command.add_flag("--strip-signature", strip.signature, "of texts: as data.strip.signature");
}

void define_describe_tables(CLI::App& describe, ballast::DescribeOptions& options) {
  describe
      .add_option("--labels", options.array_labels, "of npy: class, several or number (default: told by the values)")
      ->check(CLI::IsMember({"class", "several", "number"}));
  describe.add_option("--tree-labels", options.tree_labels, "of trees: all (default) or polarity")
      ->check(CLI::IsMember({"all", "polarity"}));
  describe
      .add_option("--separator", options.separator, "of csv: comma, tab or semicolon (default: told by the first line)")
      ->check(CLI::IsMember({"comma", "tab", "semicolon"}));
  describe.add_flag("--no-header", options.no_header, "of csv: the first line names no columns");
  describe.add_option("--label", options.label, "of csv: the column whose values are the classes")->type_name("COLUMN");
  for (const auto& [name, target, about] :
       {std::tuple("--flag", &options.flags, "of csv: a column of 0 and 1, one of several classes; as often as wanted"),
        std::tuple("--target", &options.targets, "of csv: a column of numbers to be predicted; as often as wanted"),
        std::tuple("--number", &options.numbers,
                   "of csv: a column of numbers; rows in which it has none are left out; as often as wanted"),
        std::tuple("--category", &options.categories,
                   "of csv: a column whose texts are categories, also if they are numbers; as often as wanted"),
        std::tuple("--ignore", &options.ignored, "of csv: a column that is not read; as often as wanted")}) {
    describe.add_option(name, *target, about)->type_name("COLUMN")->expected(1)->take_all();
  }
}

void define_describe(CLI::App& data, ballast::DescribeOptions& options) {
  auto* describe =
      data.add_subcommand("describe", "look at a data set's files and write the data section of a job file");
  describe
      ->add_option("folder", options.folder, "folder that the files lie in; or an archive of texts, or an .npz file")
      ->required()
      ->type_name("DIR");
  describe->add_option("--as", options.kind, "what they are (default: told by their names)")
      ->check(CLI::IsMember({"idx", "cifar10", "images", "text", "trees", "csv", "npy"}));
  for (const auto& [name, target, about] :
       {std::tuple("--train", &options.train, "the train split's file, folder, archive or array, within the folder"),
        std::tuple("--train-labels", &options.train_labels, "for idx and npy: the train split's labels"),
        std::tuple("--test", &options.test, "the test split's file, folder, archive or array"),
        std::tuple("--test-labels", &options.test_labels, "for idx and npy: the test split's labels")}) {
    describe->add_option(name, *target, about)->type_name("NAME");
  }
  describe->add_option("--height", options.height, "of images (default: the first one's)")->check(CLI::Range(1, 4096));
  describe->add_option("--width", options.width, "of images (default: the first one's)")->check(CLI::Range(1, 4096));
  describe->add_option("--channels", options.channels, "of images: 1 or 3 (default: the first one's)")
      ->check(CLI::IsMember({1, 3}));
  describe->add_flag("--normalise", options.normalise,
                     "tell mean and deviation by channel or column, over the train split");
  define_strip(*describe, options.strip);
  define_describe_tables(*describe, options);
}

struct MakeOptions {
  ballast::VocabularyOptions vocabulary;
  ballast::BytePairOptions byte_pairs;
  ballast::EmbeddingOptions embeddings;
};

void define_make(CLI::App& data, MakeOptions& options) {
  auto* words = data.add_subcommand("vocabulary", "write the most frequent words of a train split");
  auto& vocabulary = options.vocabulary;
  words->add_option("path", vocabulary.path, "folder or archive, as data.path")->required();
  words->add_option("--train", vocabulary.train, "the split within it, as data.train")->required()->type_name("NAME");
  words->add_option("--as", vocabulary.kind, "text (default) or trees")->check(CLI::IsMember({"text", "trees"}));
  define_strip(*words, vocabulary.strip);
  words->add_option("--size", vocabulary.size, "tokens at most (default 20000)")
      ->check(CLI::Range(3U, ballast::kMaxVocabulary));
  words->add_option("--least", vocabulary.least, "times that a word must occur (default 1)")
      ->check(ballast::not_negative);
  auto* pairs = data.add_subcommand("byte_pairs", "learn pairs of tokens from a text file");
  pairs->add_option("file", options.byte_pairs.file, "the text")->required()->check(CLI::ExistingFile);
  pairs->add_option("--merges", options.byte_pairs.merges, "pairs at most (default 1000)")
      ->check(CLI::Range(1U, ballast::kMostMerges));
  auto* vectors = data.add_subcommand("embeddings", "write a vocabulary's vectors of a GloVe file as weights");
  auto& embeddings = options.embeddings;
  vectors->add_option("vectors", embeddings.vectors, "GloVe text, plain or .gz")->required()->check(CLI::ExistingFile);
  vectors->add_option("--vocabulary", embeddings.vocabulary, "the vocabulary's file")
      ->required()
      ->check(CLI::ExistingFile);
  vectors->add_option("--tensor", embeddings.tensor, "the parameter's name (default embedding.weight)");
  vectors->add_option("--missing", embeddings.missing, "words without a vector: drawn (default) or zero")
      ->check(CLI::IsMember({"drawn", "zero"}));
  words->add_option("-o,--output", vocabulary.output, "the file")->required();
  pairs->add_option("-o,--output", options.byte_pairs.output, "the file")->required();
  vectors->add_option("-o,--output", embeddings.output, "the safetensors file")->required();
}

void define_data(CLI::App& app, ballast::DataOptions& options, ballast::DescribeOptions& describe, MakeOptions& make) {
  auto* data = app.add_subcommand("data", "fetch and check published data sets, and describe any for a job file");
  data->require_subcommand(1);
  define_describe(*data, describe);
  define_make(*data, make);
  auto* get = data->add_subcommand("get", "fetch what is missing or damaged of a data set's files");
  auto* check = data->add_subcommand("check", "say of each of a data set's files whether it is good");
  get->add_option("--to", options.folder, "folder (default: where workers look)")->type_name("DIR");
  check->add_option("--in", options.folder, "folder (default: where workers look)")->type_name("DIR");
  for (auto* command : {get, check}) {
    command->add_option("set", options.set, "mnist")->required();
  }
  get->add_option("--mirror", options.mirrors,
                  "a folder on a web server, in place of the usual ones; as often as wanted")
      ->type_name("URL")
      ->expected(1)
      ->take_all();
  get->add_option("--patience", options.patience, "seconds that a mirror may stand still (default 20)")
      ->check(CLI::Range(1, 3600));
}

const ballast::ManWords kManWords{
    "Ballast trains a deep-learning model with many processes: servers own the model's weights, each a part (a shard); "
    "workers compute gradients and hold nothing. ballast runs a whole job on this machine, and asks, stops and reads "
    "jobs wherever they run.",
    {{"0", "done"},
     {"1", "it failed; standard error says why"},
     {"2", "the job file, the data that it names or the command line is wrong"},
     {"3", "the run was stopped by ballast stop before the job's end"},
     {"4", "the lead speaks another version of the protocol, and cannot be asked"},
     {"130, 143", "the run was stopped by Ctrl-C, or by a request to terminate"}},
    {"ballast-server(1)", "ballast-worker(1)"}};

struct Options {
  CheckOptions check;
  ballast::RunOptions run;
  StatusOptions status;
  ballast::WatchOptions watch;
  ballast::TraceOptions trace;
  ballast::AnalyzeOptions analyze;
  ballast::DoctorOptions doctor;
  ballast::TopOptions top;
  std::string control_where;
  std::string control_keys;
  ballast::KeygenOptions keygen;
  ballast::ScaleOptions scale;
  DigestOptions digest;
  ballast::RestoreCommand restore;
  ballast::ReshardCommand reshard;
  ballast::DataOptions data;
  ballast::DescribeOptions describe;
  MakeOptions make;
  ballast::ModelCommands model;
  ballast::RenderCommands render;
  ballast::AdvisingCommands advising;
};

int dispatch(const CLI::App& app, const Options& options) {
  if (app.got_subcommand("check")) {
    const auto& check = options.check;
    return check.worker   ? ballast::check_worker(check.file, check.overrides)
           : check.shapes ? ballast::check_shapes(check.file, check.overrides)
                          : ballast::check_job(check.file, check.overrides, check.look());
  }
  if (app.got_subcommand("status")) {
    return ballast::show_status(options.status.where, options.status.json, ballast::kStatusPatience,
                                options.status.keys);
  }
  if (app.got_subcommand("keygen")) {
    return ballast::keygen(options.keygen);
  }
  if (app.got_subcommand("watch")) {
    return ballast::watch_job(options.watch);
  }
  if (app.got_subcommand("trace")) {
    return ballast::show_trace(options.trace);
  }
  if (app.got_subcommand("analyze")) {
    return ballast::analyze(options.analyze);
  }
  if (app.got_subcommand("doctor")) {
    return ballast::doctor(options.doctor);
  }
  if (app.got_subcommand("top")) {
    return ballast::top(options.top);
  }
  if (app.got_subcommand("scale")) {
    return ballast::scale_run(options.scale);
  }
  if (app.got_subcommand("digest")) {
    return ballast::show_digest(options.digest.folder, options.digest.step);
  }
  if (app.got_subcommand("restore")) {
    return ballast::restore_run(options.restore);
  }
  if (app.got_subcommand("reshard")) {
    return ballast::reshard(options.reshard);
  }
  if (app.got_subcommand("data")) {
    const auto* data = app.get_subcommand("data");
    if (data->got_subcommand("describe")) {
      return ballast::describe_data(options.describe);
    }
    if (data->got_subcommand("vocabulary")) {
      return ballast::make_vocabulary(options.make.vocabulary);
    }
    if (data->got_subcommand("byte_pairs")) {
      return ballast::make_byte_pairs(options.make.byte_pairs);
    }
    if (data->got_subcommand("embeddings")) {
      return ballast::make_embeddings(options.make.embeddings);
    }
    return (data->got_subcommand("get") ? ballast::get_data : ballast::check_data)(options.data);
  }
  if (const auto code = options.model.dispatch(app)) {
    return *code;
  }
  if (const auto code = options.render.dispatch(app)) {
    return *code;
  }
  if (const auto code = options.advising.dispatch(app)) {
    return *code;
  }
  for (const auto& control : kControlCommands) {
    if (app.got_subcommand(control.name)) {
      return ballast::control_job(options.control_where, control.command, options.control_keys);
    }
  }
  return ballast::run(options.run);
}

}  // namespace

int main(int argc, char** argv) {
  ballast::raise_descriptor_limit();  // the processes of a run have the same
  CLI::App app("Ballast: a parameter server for distributed deep learning", "ballast");
  app.require_subcommand(1);
  Options options;
  define_check(app, options.check);
  define_run(app, options.run);
  define_status(app, options.status);
  define_watch(app, options.watch);
  define_trace(app, options.trace);
  define_analyze(app, options.analyze);
  define_doctor(app, options.doctor);
  define_top(app, options.top);
  define_keygen(app, options.keygen);
  define_controls(app, options.control_where, options.control_keys);
  define_scale(app, options.scale);
  define_digest(app, options.digest);
  define_restore(app, options.restore);
  define_reshard(app, options.reshard);
  define_data(app, options.data, options.describe, options.make);
  options.model.define(app);
  options.render.define(app);
  options.advising.define(app);
  ballast::add_usage_options(app, kManWords);
  if (const auto code = ballast::parse_command_line(app, argc, argv)) {
    return *code;
  }
  try {
    return dispatch(app, options);
  } catch (const ballast::UsageError& error) {
    std::fprintf(stderr, "ballast: %s\n", error.what());
    return ballast::kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ballast: %s\n", error.what());
    return 1;
  }
}
