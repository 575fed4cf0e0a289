#include "insight/analysis_text.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

using insight::Resource;
using insight::Severity;

insight::JobTrace of_steps(Step first, Step last) {
  insight::JobTrace trace;
  trace.job = "a";
  trace.processes.resize(1);
  for (const auto step : {last, first}) {
    TraceRecord record;
    record.step = step;
    record.kind = TraceKind::slot;
    trace.processes[0].records.push_back(record);
  }
  return trace;
}

const std::vector<Severity> kFound = {{Resource::uplink, "worker b", 0, 80, 8, 10, true},
                                      {Resource::data, "worker c", 0, 20, 0, 1.5, true},
                                      {Resource::processor, "shard 0 lane 1", 0, 900, 100, 9, true},
                                      {Resource::compute, "worker a", 0, 40, 40.5, 1, false}};

TEST_CASE("what is slow is told in a line each, the rest only if it is asked for") {
  const auto text = severity_lines(of_steps(3, 22), std::nullopt, kFound, false);
  CHECK(text ==
        "job a, steps 3 to 22\n"
        "slower than their peers:\n"
        "  worker b                   link to the servers     80.0 ms a model, its peers 8.0 ms: 10.00 x\n"
        "  worker c                   data wait               20.0 ms a slot: 1.50 x\n"
        "  shard 0 lane 1             processor               900.0 ms a second, of which it had a processor for 100.0 "
        "ms: 9.00 x\n");
  const auto all = severity_lines(of_steps(3, 22), std::nullopt, kFound, true);
  CHECK(all.starts_with(text));
  CHECK(all.ends_with(
      "as fast as their peers:\n  worker a                   compute                 40.0 ms a slot, its peers 40.5 "
      "ms: 1.00 x\n"));
}

TEST_CASE("where nobody is slow that is said, and so it is where nothing was computed") {
  CHECK(severity_lines(of_steps(0, 9), insight::Window{3, 3}, {kFound[3], kFound[3]}, false) ==
        "job a, steps 3 to 3\nnobody is slower than his peers as a rule\n");
  CHECK(severity_lines({"a", {}}, std::nullopt, {}, true)
            .starts_with("job a: no slot was computed, so nothing can be told"));
}

TEST_CASE("a worker that has computed alone is compared with nobody") {
  CHECK(severity_lines(of_steps(0, 9), insight::Window{0, 9},
                       {{insight::Resource::compute, "worker a", 0, 40, 0, 1, false}}, true) ==
        "job a, steps 0 to 9\none worker has computed: there is nobody to compare it with\nas fast as their peers:\n"
        "  worker a                   compute                 40.0 ms a slot: 1.00 x\n");
}

TEST_CASE("programs are told all of it, an object a line") {
  const auto text = severity_json({kFound[0], kFound[3]});
  CHECK(
      text ==
      R"({"who":"worker b","resource":"link to the servers","takes_ms":80.0,"ideal_ms":8.0,"severity":10.0,"slow":true})"
      "\n"
      R"({"who":"worker a","resource":"compute","takes_ms":40.0,"ideal_ms":40.5,"severity":1.0,"slow":false})"
      "\n");
}

const insight::Verdict kVerdict = {20,
                                   592.04,
                                   609.4,
                                   1.154,
                                   {{insight::Cause::compute, "worker b", 2.006, 1.25, 1.1, 0},
                                    {insight::Cause::passing, "worker a", 1.05, 1.0, 1.02, 2.04}}};

TEST_CASE("what it costs is told in a line each: gained without it alone, and added by it alone") {
  CHECK(
      verdict_lines(kVerdict) ==
      "a step takes 592.0 ms (609.4 in a replay), 1.15 x as long as without all of:\n"
      "  worker b                   compute                 2.01 x: without it alone a step takes 20.0 % less, with it "
      "alone 10.0 % more\n"
      "  worker a                   passing stops           1.05 x: without it alone a step takes 0.0 % less, with it "
      "alone 2.0 % more; 2.0 s lost\n");
  CHECK(verdict_lines(insight::Verdict{20, 592, 600, 1, {}}) ==
        "a step takes 592.0 ms (600.0 in a replay), and nothing is found to hold it up\n");
  CHECK(verdict_lines(std::nullopt).starts_with("what that costs cannot be told: "));
}

TEST_CASE("what is slow and costs nothing stands apart, and a replay that is far from the job is said to be") {
  auto verdict = kVerdict;
  verdict.found[0].gain = 1;
  verdict.found[0].cost = 1.0004;
  const auto one = verdict_lines(verdict);
  CHECK(one.starts_with("a step takes 592.0 ms (609.4 in a replay), 1.15 x as long as without all of:\n  worker a   "));
  CHECK(one.ends_with("2.0 s lost\nslow, but nothing waits for it: worker b compute\n"));
  verdict.found.pop_back();
  CHECK(verdict_lines(verdict) ==
        "a step takes 592.0 ms (609.4 in a replay), and nothing is found to hold it up\n"
        "slow, but nothing waits for it: worker b compute\n");
  verdict.replayed = 400;
  CHECK(verdict_lines(verdict).starts_with(
      "a step takes 592.0 ms (400.0 in a replay, so far from it that what follows may be as far off), and"));
}

TEST_CASE("of a window that is shorter than it was to be it is said why") {
  insight::Analysis analysis;
  analysis.window = insight::Window{3, 9};
  const auto first_line = [&](std::size_t steps) {
    const auto text = analysis_lines(of_steps(0, 22), analysis, steps, false);
    return text.substr(0, text.find('\n'));
  };
  CHECK(first_line(7) == "job a, steps 3 to 9");
  CHECK(first_line(20) == "job a, steps 3 to 9 (not 20: no more were measured as a whole)");
  analysis.begins_at_change = true;
  CHECK(first_line(20) == "job a, steps 3 to 9 (not 20: those before took another time)");
}

TEST_CASE("of a job that stands still that is said first, and of who is missing what there is to do") {
  auto trace = of_steps(3, 22);
  insight::Analysis analysis;
  analysis.window = insight::Window{3, 22};
  analysis.verdict = insight::Verdict{20, 592, 600, 1, {}};
  const auto text = [&] { return analysis_lines(trace, analysis, 20, false); };
  CHECK(text().starts_with("job a, "));
  CHECK(text().ends_with("advice: leave it as it is; nothing that was tried gains 3 %\n"));
  trace.absent = {1, {{"worker x", "was lost at step 9, and is not back"}}};
  CHECK(text().ends_with("advice: bring back who is missing; nothing else that was tried gains 3 %\n"));
  trace.held = "it waits for shard 1";
  CHECK(text().starts_with(
      "NO PROGRESS: it waits for shard 1; what follows was before that (`ballast doctor` says more)\nmissing, "));
  analysis.verdict->replayed = 200;
  CHECK(
      text().ends_with("advice: none, for the replay leaves out what matters here: look at a trace (`ballast "
                       "trace`)\n"));
}

TEST_CASE("workers that bring nothing come first, with the reason") {
  auto trace = of_steps(3, 22);
  CHECK(absent_lines(trace).empty());
  trace.absent = {1, {{"worker x", "was lost at step 9, and is not back"}}};
  const std::string told =
      "missing, and in no figure below (`ballast doctor` looks for the reason):\n"
      "  worker x was lost at step 9, and is not back\n";
  CHECK(absent_lines(trace) == told);
  CHECK(analysis_lines(trace, {}, 20, false).starts_with(told + "job a, "));
  CHECK(absent_json(trace) == "{\"who\":\"worker x\",\"absent\":\"was lost at step 9, and is not back\"}\n");
  trace.processes.clear();
  CHECK(analysis_lines(trace, {}, 20, false).starts_with(told + "job a: no slot was computed"));
  trace.absent.first.resize(8, {"worker y", "is refused: other data"});
  trace.absent.count = 3'000;
  CHECK(absent_lines(trace).ends_with("  worker y is refused: other data\n  and 2995 more\n"));
}

std::vector<insight::LastingCause> lasting() {
  const auto& [first, second] = std::pair(kVerdict.found[0], kVerdict.found[1]);
  return {{first, {40, 59}, 20, 2, false, true, true},
          {second, {40, 59}, 40, 1, false, false, true},
          {second, {40, 59}, 40, 0, false, false, false},
          {{insight::Cause::worker_link, "worker c", 9, 2, 2, 0, insight::LinkTrouble::delay},
           {0, 19},
           0,
           1,
           true,
           false,
           false}};
}

TEST_CASE("what lasts, what is over and what raises an alarm is told in a line each, and nothing of what is new") {
  CHECK(
      lasting_lines(lasting(), 3, 20) ==
      "over the last windows of 20 steps:\n"
      "  worker b                   compute                 ALARM: lasts, since step 20 or longer; costs more than 3 % "
      "in 2 of 3 windows\n"
      "  worker a                   passing stops           ALARM: since step 40; costs more than 3 % in 1 of 3 "
      "windows\n"
      "  worker c                   link (delay)            is over: steps 0 to 19; costs more than 3 % in 1 of 3 "
      "windows\n");
  CHECK(lasting_lines({lasting()[2]}, 3, 20).empty());
  CHECK(lasting_lines({}, 3, 20).empty());
}

TEST_CASE("what to change is told in plain words, with what it gains") {
  using insight::Change;
  CHECK(advice_line({Change::leave_out, {"worker b"}, 3, 1.25}) ==
        "advice: leave worker b out: a step then takes 20.0 % less\n");
  CHECK(advice_line({Change::leave_out, {"worker a", "worker b", "worker c"}, 3, 1.25}) ==
        "advice: leave worker a, worker b and worker c out: a step then takes 20.0 % less\n");
  CHECK(advice_line({Change::more_lanes, {}, 4, 1.25}) ==
        "advice: give each shard 4 lanes, if its machine has the processors: a step then takes 20.0 % less\n");
  CHECK(advice_line({Change::slots, {}, 12, 1.25}) ==
        "advice: cut a step into 12 slots (other sums, so other bits): a step then takes 20.0 % less\n");
  CHECK(advice_line({Change::fewer_workers, {}, 1, 0.99}) ==
        "advice: 1 worker does as well: a step takes 1.0 % more with the fastest\n");
  CHECK(advice_line({Change::fewer_workers, {}, 2, 1.02}) ==
        "advice: 2 workers do as well: a step takes 0.0 % more with the fastest\n");
  CHECK(
      advice_line({Change::mend, {"shard 0 lane 1"}, 0, 1.25}) ==
      "advice: mend what holds up shard 0 lane 1: a step then takes 20.0 % less; nothing else that was tried gains as "
      "much\n");
  using insight::Cause;
  CHECK(advice_line({Change::mend, {"shard 0 lane 1"}, 0, 1.25, {}, 1, {Cause::processor}}) ==
        "advice: mend what holds up shard 0 lane 1 (it lacks a processor: give its machine more, or run less beside "
        "it): a step then takes 20.0 % less; nothing else that was tried gains as much\n");
  const std::vector<std::string> many = {"worker a", "worker b", "worker c", "worker d", "worker e"};
  CHECK(
      advice_line({Change::mend, many, 0, 1.25, {}, 1, std::vector<Cause>(5, Cause::compute)}) ==
      "advice: mend what holds up worker a, worker b, worker c, worker d and worker e: a step then takes 20.0 % less; "
      "nothing else that was tried gains as much\n");
  CHECK(advice_line({Change::slots, {}, 12, 1.25, {"worker b"}, 2}) ==
        "advice: cut a step into 12 slots (other sums, so other bits): a step then takes 20.0 % less; if what holds up "
        "worker b can be mended, 50.0 % less\n");
  CHECK(advice_line({}) == "advice: leave it as it is; nothing that was tried gains 3 %\n");
  CHECK(advice_json({Change::slots, {}, 12, 1.25, {"worker b"}, 2}) ==
        R"({"advice":"slots","who":[],"number":12,"gain":1.25,"mend":{"who":["worker b"],"gain":2.0}})"
        "\n");
  CHECK(advice_json({Change::leave_out, {"worker b"}, 3, 1.25}) ==
        R"({"advice":"leave out","who":["worker b"],"number":3,"gain":1.25})"
        "\n");
}

TEST_CASE("programs are told of the job in one object, and of each cause in another") {
  insight::Analysis analysis;
  analysis.verdict = kVerdict;
  analysis.window = insight::Window{40, 59};
  analysis.lasting = {lasting()[0], lasting()[3]};
  CHECK(verdict_json(analysis) ==
        R"({"steps":20,"first_step":40,"last_step":59,"step_ms":592.04,"replayed_ms":609.4,"slowdown":1.154})"
        "\n"
        R"({"who":"worker b","cause":"compute","severity":2.006,"gain":1.25,"cost":1.1,"lost_s":0.0,)"
        R"("first_step":20,"last_step":59,"over":false,"persists":true,"alarm":true})"
        "\n"
        R"({"who":"worker c","cause":"link","severity":9.0,"gain":2.0,"cost":2.0,"lost_s":0.0,)"
        R"("first_step":0,"last_step":19,"over":true,"persists":false,"alarm":false,"trouble":"delay"})"
        "\n");
  CHECK(verdict_json({}).empty());
}

TEST_CASE("of a job in items it is said how long as many take as a step has, and what its journals cost") {
  CHECK(verdict_lines(insight::Verdict{20, 592, 600, 1, {}, 12}) ==
        "a step's 12 items take 592.0 ms (600.0 in a replay), and nothing is found to hold it up\n");
  CHECK(
      severity_lines(of_steps(3, 22), std::nullopt, {{Resource::storage, "shard 0 lane 0", 0, 8, 0, 1.2, true}}, false)
          .ends_with("  shard 0 lane 0             storage                 8.0 ms a record: 1.20 x\n"));
  CHECK(advice_line({insight::Change::faster_disk, {"shard 0"}, 0, 1.25}) ==
        "advice: give shard 0 a faster disk: a step then takes 20.0 % less\n");
  CHECK(advice_line({insight::Change::faster_disk, {"shard 0", "shard 1"}, 0, 1.25, {}, 1, {}, true}) ==
        "advice: give shard 0 and shard 1 a faster disk, or force the journal to it less often (durability.fsync): a "
        "step then takes 20.0 % less\n");
  CHECK(advice_line({insight::Change::wider_bound, {}, 2, 1.25}) ==
        "advice: make training.staleness.bound 2 times as large (staler updates, so another model): a step then takes "
        "20.0 % less\n");
}

TEST_CASE("of ssp it is said that the model is another one") {
  CHECK(
      advice_line({insight::Change::ssp, {}, 6, 1.25}) ==
      "advice: try training.mode: ssp with staleness.bound: 6, where nobody waits for a step's last slot (each slot is "
      "an update of its own: another model, and other bits with each run): a step then takes 20.0 % less\n");
  CHECK(advice_json({insight::Change::ssp, {}, 6, 1.25}) ==
        "{\"advice\":\"ssp\",\"who\":[],\"number\":6,\"gain\":1.25}\n");
}

}  // namespace
}  // namespace ballast
