#include "cli/advising/advise_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/telling/amounts.h"
#include "insight/medians.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilli = 1e-3;
constexpr std::size_t kMostNamed = 4;  // machines

struct BoundText {
  Bound bound;
  const char* key;
  const char* subject;
};

constexpr std::array kBounds = {
    BoundText{Bound::compute, "compute", "computing slots"},
    BoundText{Bound::data, "data", "reading examples"},
    BoundText{Bound::worker_links, "worker links", "workers' links"},
    BoundText{Bound::server_links, "server link", "servers' links"},
    BoundText{Bound::lanes, "lanes", "what lanes' threads do"},
    BoundText{Bound::lead, "lead", "the lead's decisions"},
    BoundText{Bound::processors, "processors", "this machine's processors, which all processes share"},
};

const BoundText& bound_text(Bound bound) { return *std::ranges::find(kBounds, bound, &BoundText::bound); }

double examples_a_second(const Job& job, double step) { return job.spec.training.batch / (step * 1e-6); }

std::string candidate_text(const Candidate& candidate) {
  return count_text(candidate.workers, "worker") + ", " + count_text(candidate.shards, "shard") + " of " +
         count_text(candidate.lanes, "lane");
}

std::string step_text(const Job& job, double step) {
  return "a step takes " + fixed(step * kMilli, 1) + " ms (" + fixed(examples_a_second(job, step), 0) + " examples/s)";
}

std::string names_of(const std::vector<MachineProbe>& probes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(probes.size(), kMostNamed); ++i) {
    text += (i > 0 ? ", " : "") + probes[i].machine + " (" + fixed(probes[i].processors, 1) + " processors)";
  }
  return text + (probes.size() > kMostNamed ? ", ..." : "");
}

std::string machines_text(const Fleet& fleet) {
  if (fleet.is_one_machine) {
    return "all on one machine: " + names_of({fleet.workers[0]}) + "\n";
  }
  return "up to " + count_text(fleet.server_machines, "machine") + " of servers, as " + names_of(fleet.servers) +
         "\nup to " + count_text(fleet.worker_machines, "machine") + " of workers, as " + names_of(fleet.workers) +
         "\n";
}

std::string slots_text(const MachineProbe& worker) {
  const auto& slot = *worker.slot;
  auto all = slot.alone;
  all.insert(all.end(), slot.joined.begin(), slot.joined.end());
  return "a slot takes " + fixed(insight::median(all) * kMilli, 2) + " ms on " + worker.machine + " (of ten " +
         fixed(insight::quantile(all, 0.1) * kMilli, 2) + " to " + fixed(insight::quantile(all, 0.9) * kMilli, 2) +
         "), on " + slot.backend + "\n";
}

// Those that differ from the advised one in one number, it, the best, and the job's own.
std::vector<std::size_t> rows_of(const Foretelling& found) {
  const auto& least = found.tried[found.least].candidate;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < found.tried.size(); ++i) {
    const auto& one = found.tried[i].candidate;
    const auto others = (one.shards != least.shards ? 1 : 0) + (one.lanes != least.lanes ? 1 : 0) +
                        (one.workers != least.workers ? 1 : 0);
    if (others <= 1 || i == found.best || i == found.own) {
      rows.push_back(i);
    }
  }
  return rows;
}

std::string table(const Job& job, const Foretelling& found) {
  std::string text = "\n  shards  lanes  workers    step ms   examples/s\n";
  for (const auto row : rows_of(found)) {
    const auto& one = found.tried[row];
    std::array<char, 128> line{};
    std::snprintf(line.data(), line.size(), "  %6u  %5u  %7u  %9.1f  %11.0f", one.candidate.shards, one.candidate.lanes,
                  one.candidate.workers, one.step * kMilli, examples_a_second(job, one.step));
    text += line.data();
    text += row == found.least ? "  advised" : "";
    text += row == found.best && row != found.least ? "  the best" : "";
    text += row == found.own ? "  as the job says" : "";
    text += "\n";
  }
  return text;
}

constexpr const char* kNotLooked = "not looked for: longer with --seconds\n";

std::string next_text(const Limiting& next) {
  if (!next.is_known) {
    return kNotLooked;
  }
  return next.limit ? std::string(bound_text(next.limit->what).subject) + "; with both twice as fast " +
                          fixed(next.limit->takes * kMilli, 1) + " ms\n"
                    : "nothing else; the same again\n";
}

std::string limits_text(const Foretelling& found) {
  const std::string begin = "what limits it: ";
  if (!found.limiting.is_known) {
    return begin + kNotLooked;
  }
  const auto& limit = found.limiting.limit;
  return limit ? begin + bound_text(limit->what).subject + "; were that twice as fast, a step would take " +
                     fixed(limit->takes * kMilli, 1) + " ms\nnext would be: " + next_text(found.next)
               : begin + "no single thing; none of them twice as fast would gain 3 %\n";
}

Json json_of(const Job& job, const Foretold& one) {
  return {{"shards", one.candidate.shards},
          {"lanes", one.candidate.lanes},
          {"workers", one.candidate.workers},
          {"step_ms", one.step * kMilli},
          {"examples_per_s", examples_a_second(job, one.step)}};
}

Json json_of(const Limiting& limiting) {
  const auto& limit = limiting.limit;
  return limit ? Json{{"what", bound_text(limit->what).key}, {"step_ms_if_twice_as_fast", limit->takes * kMilli}}
               : Json(nullptr);
}

bool has_links(const std::vector<MachineProbe>& probes) {
  return std::ranges::any_of(probes, [](const auto& probe) { return !probe.links.empty(); });
}

}  // namespace

std::string advice_text(const Advised& advised) {
  const auto& [job, fleet, found, unknown] = advised;
  const auto& least = found.tried[found.least];
  const auto& best = found.tried[found.best];
  auto text = "job " + job.spec.job + ": " + std::to_string(job.spec.training.slots) + " slots a step, " +
              bytes_text(job.arena.elements * sizeof(float)) + " of weights\n" + machines_text(fleet) +
              slots_text(fleet.workers[0]) + table(job, found) + "\nadvised: " + candidate_text(least.candidate) +
              "; " + step_text(job, least.step) + "\n";
  text += found.best == found.least ? "nothing that was tried is faster\n"
                                    : "the best: " + candidate_text(best.candidate) + "; " + step_text(job, best.step) +
                                          "; the advised one is within 5 % of it\n";
  text += limits_text(found);
  for (const auto& sentence : unknown) {
    text += "not known: " + sentence + "\n";
  }
  return text;
}

std::string advice_json(const Advised& advised) {
  const auto& [job, fleet, found, unknown] = advised;
  Json json = {{"job", job.spec.job},
               {"advised", json_of(job, found.tried[found.least])},
               {"best", json_of(job, found.tried[found.best])},
               {"own", found.own ? json_of(job, found.tried[*found.own]) : Json(nullptr)},
               {"limit", json_of(found.limiting)},
               {"limit_is_known", found.limiting.is_known},
               {"next", json_of(found.next)},
               {"next_is_known", found.next.is_known},
               {"untried", found.untried},
               {"too_large", found.too_large},
               {"unknown", unknown}};
  json["tried"] = Json::array();
  for (const auto& one : found.tried) {
    json["tried"].push_back(json_of(job, one));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> left_out_of(const Foretelling& found, std::size_t without_memory) {
  std::vector<std::string> sentences;
  const auto add = [&sentences](std::size_t count, const std::string& why) {
    if (count > 0) {
      sentences.push_back(count_text(count, "division of the job was", "divisions of the job were") + " not tried" +
                          why);
    }
  };
  add(found.untried, " for want of time: longer with --seconds");
  add(found.too_large, ", of which not even two steps can be replayed (docs/advise.md): try fewer --workers");
  add(without_memory, ", for which machines have too little memory (ballast plan)");
  return sentences;
}

std::vector<std::string> unknown_of(const Job& job, const Fleet& fleet) {
  std::vector<std::string> unknown;
  if (is_item_mode(job.spec.training.mode)) {
    unknown.emplace_back(
        "how long items wait for one another: a replay of rounds does not stand for async and ssp, so these times are "
        "those of what is busiest, and no job is quicker");
  }
  const auto rates = server_rates(fleet);
  if (fleet.is_one_machine) {
    unknown.emplace_back("how much processes that share this machine's memory and caches keep each other waiting");
  } else if (!has_links(fleet.workers)) {
    unknown.emplace_back(
        "what workers' links carry, so none of them is taken to be in the way; measure them with --to "
        "(docs/advise.md)");
  }
  if (!fleet.is_one_machine && fleet.server_link <= 0) {
    unknown.push_back(
        rates.in > 0 ? "what a server's link carries from several machines at a time; it is taken to be the " +
                           bytes_text(static_cast<std::uint64_t>(std::max(rates.in, rates.out) * 1e6)) +
                           " a second of the fastest link that was seen; say --server-mbit where it is more"
                     : "what a server's link carries; it is taken to be in nobody's way, unless --server-mbit says");
  }
  for (const auto& worker : fleet.workers) {
    if (!worker.slot->fetch) {
      unknown.push_back("what reading examples takes on " + worker.machine + " (" + worker.slot->data_trouble + ")");
    }
  }
  if (job.spec.durability.mode != "final" || job.sizes.test + job.sizes.validation > 0) {
    unknown.emplace_back("what snapshots, evaluations and encryption (keys) take beside the steps");
  }
  return unknown;
}

}  // namespace ballast
