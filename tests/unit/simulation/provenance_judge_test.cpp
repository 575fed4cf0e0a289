// The workers' data and arithmetic, and the servers' initial weights, by the judge alone.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/simulation/judge/provenance.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;

constexpr SessionId kFirst = 3;
constexpr SessionId kOfOtherData = 4;
constexpr SessionId kOfOtherArithmetic = 5;

LifeWorker worker_of(const std::string& data, const std::string& arithmetic) {
  LifeWorker worker;
  worker.data = data;
  worker.arithmetic = arithmetic;
  return worker;
}

ProvenanceJudge judge_of(const LifeSpec& life) {
  ProvenanceJudge judge(life);
  judge.worker_starts(kFirst, "a", worker_of("cats", "wide"));
  judge.worker_starts(kOfOtherData, "b", worker_of("dogs", "wide"));
  judge.worker_starts(kOfOtherArithmetic, "c", worker_of("cats", "narrow"));
  judge.server_starts(0, 7, "old");
  judge.server_starts(1, 8, "old");
  judge.server_starts(1, 9, "new");
  judge.server_starts(1, 10, "");
  return judge;
}

const Told kCats{"cats", "worker a"};
const Told kWide{"wide", "worker a"};
const Told kNarrow{"narrow", "worker c"};
const Told kOld{"old", "shard 0"};

Ledger ledger_of(const Told& data, const std::vector<Told>& arithmetics) {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.provenance.data = data;
  ledger.provenance.arithmetics = arithmetics;
  return ledger;
}

Ledger ledger_of_weights(const std::vector<Incarnation>& incarnations, const Told& weights) {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.incarnations = incarnations;
  ledger.provenance.initial_weights = weights;
  return ledger;
}

TEST_CASE("provenance: who works fits what is durable, and is named there") {
  const auto life = small_life();
  auto judge = judge_of(life);
  CHECK_THROWS_WITH_AS(judge.works(kFirst), Contains("work is done before it is durable by whose data"), Violation);
  judge.ledger_durable(ledger_of(kCats, {kWide}));
  CHECK_NOTHROW(judge.works(kFirst));
  CHECK_THROWS_WITH_AS(
      judge.works(kOfOtherData),
      Contains("session 4 works for a job that it does not fit: its data are dogs, the job's are cats"), Violation);
  CHECK_THROWS_WITH_AS(judge.works(kOfOtherArithmetic),
                       Contains("work is done by an arithmetic that the durable ledger does not name"), Violation);
  judge.ledger_durable(ledger_of(kCats, {kWide, kNarrow}));
  CHECK_NOTHROW(judge.works(kFirst));
  CHECK_NOTHROW(judge.works(kOfOtherArithmetic));
}

TEST_CASE("provenance: in an exact job only the first arithmetic works") {
  auto life = small_life();
  life.exact = true;
  auto judge = judge_of(life);
  judge.ledger_durable(ledger_of(kCats, {kWide, kNarrow}));
  CHECK_NOTHROW(judge.works(kFirst));
  CHECK_THROWS_WITH_AS(
      judge.works(kOfOtherArithmetic),
      Contains("session 5 works for a job that it does not fit: its arithmetic is narrow, the job's is wide"),
      Violation);
}

TEST_CASE("provenance: the job file's digest counts before any ledger's, and needs nobody who has it") {
  auto life = small_life();
  life.data_digest = "dogs";
  auto judge = judge_of(life);
  CHECK_NOTHROW(judge.refused(kFirst));
  CHECK_THROWS_WITH_AS(judge.works(kFirst), Contains("its data are cats, the job's are dogs"), Violation);
  CHECK_THROWS_WITH_AS(judge.works(kOfOtherData), Contains("before it is durable by whose data"), Violation);
  CHECK_NOTHROW(judge.ledger_durable(ledger_of({"dogs", "training.data_digest"}, {kWide})));
  CHECK_NOTHROW(judge.works(kOfOtherData));
}

TEST_CASE("provenance: a worker is refused only for what is durable") {
  const auto life = small_life();
  const auto nothing = Contains("a worker is refused for what nothing durable says");
  auto judge = judge_of(life);
  CHECK_THROWS_WITH_AS(judge.refused(kOfOtherData), nothing, Violation);
  judge.ledger_durable(ledger_of(kCats, {kWide}));
  CHECK_NOTHROW(judge.refused(kOfOtherData));
  CHECK_THROWS_WITH_AS(judge.refused(kFirst), nothing, Violation);
  CHECK_THROWS_WITH_AS(judge.refused(kOfOtherArithmetic), nothing, Violation);

  auto exact_life = small_life();
  exact_life.exact = true;
  auto exact = judge_of(exact_life);
  CHECK_THROWS_WITH_AS(exact.refused(kOfOtherArithmetic), nothing, Violation);
  exact.ledger_durable(ledger_of(kCats, {kWide}));
  CHECK_NOTHROW(exact.refused(kOfOtherArithmetic));
}

TEST_CASE("provenance: what workers have told stays in the ledger") {
  const auto life = small_life();
  auto judge = judge_of(life);
  judge.ledger_durable(ledger_of(kCats, {kWide}));
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of({"dogs", "worker b"}, {kWide})),
                       Contains("the digest that counts changes"), Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of({}, {kWide})), Contains("the digest that counts changes"),
                       Violation);
  const auto forgotten = Contains("a kind of arithmetic that has worked is forgotten");
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of(kCats, {})), forgotten, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of(kCats, {kNarrow, kWide})), forgotten, Violation);
  CHECK_NOTHROW(judge.ledger_durable(ledger_of(kCats, {kWide, kNarrow})));
}

TEST_CASE("provenance: the ledger names workers that have what they are named for") {
  const auto life = small_life();
  auto judge = judge_of(life);
  const auto arithmetic = Contains("an arithmetic is named with a worker of another");
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of(kCats, {{"narrow", "worker a"}})), arithmetic, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of(kCats, {{"narrow", "worker z"}})), arithmetic, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of(kCats, {{"wide", "shard a"}})), arithmetic, Violation);
  const auto data = Contains("a digest is named with a worker of other data");
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of({"dogs", "worker a"}, {kWide})), data, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of({"dogs", "worker z"}, {kWide})), data, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of({"cats", "a"}, {kWide})), data, Violation);
}

TEST_CASE("provenance: the servers of a timeline have read the same initial weights, or none") {
  const auto life = small_life();
  auto judge = judge_of(life);
  const auto others = Contains("a timeline lists a server with other initial weights than those that its ledger names");
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of_weights({7, 9}, kOld)), others, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of_weights({7, 8}, {})), others, Violation);
  const auto bearer = Contains("initial weights are named with a shard that has not read them");
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of_weights({7, 10}, {"old", "shard 1"})), bearer, Violation);
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of_weights({10}, kOld)), bearer, Violation);
  CHECK_NOTHROW(judge.ledger_durable(ledger_of_weights({10}, {})));
  CHECK(judge.is_unfit("old"));
  CHECK_NOTHROW(judge.ledger_durable(ledger_of_weights({7, 10}, kOld)));
  CHECK_FALSE(judge.is_unfit("old"));
  CHECK_FALSE(judge.is_unfit(""));
  CHECK(judge.is_unfit("new"));
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of_weights({9}, {"new", "shard 1"})),
                       Contains("the initial weights change"), Violation);
  CHECK_NOTHROW(judge.ledger_durable(ledger_of_weights({10}, kOld)));  // who read them first need not stay
}

TEST_CASE("provenance: a server is refused for weights that it has read, if the ledger or another shard has others") {
  const auto life = small_life();
  auto judge = judge_of(life);
  const auto nobody =
      Contains("a server is refused for its initial weights, and neither the ledger nor another shard names others");
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(10),
                       Contains("a server is refused for initial weights that it has not read"), Violation);
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(9), nobody, Violation);
  judge.taken(8);  // of the same shard
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(9), nobody, Violation);
  judge.taken(7);
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(8), nobody, Violation);
  CHECK(judge.refused_weights(9) == "new");
  judge.taken(10);
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(7), nobody, Violation);
  judge.lead_starts();
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(9), nobody, Violation);
  judge.ledger_durable(ledger_of_weights({7, 10}, kOld));
  CHECK(judge.refused_weights(9) == "new");
  judge.taken(9);
  CHECK_THROWS_WITH_AS((void)judge.refused_weights(7), nobody, Violation);
}

}  // namespace
}  // namespace ballast::simulation
