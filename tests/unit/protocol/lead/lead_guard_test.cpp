// Whom the lead gives work, by their data, arithmetic and initial weights.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/protocol/lead/lead_fixture.h"

using namespace ballast;
using two_shards::find;
using two_shards::Fixture;

namespace {

struct Guarded : Fixture {
  explicit Guarded(LeadConfig config = two_shards::config()) : Fixture(std::move(config)) {
    hello(0);
    hello(1);
    written();
    reports(0);
  }

  lead::Actions worker(SessionId session, const Message& message) {
    return lead.step(lead::FromWorker{session, &message});
  }
  lead::Actions ready(SessionId session, const std::string& data, const std::string& fingerprint) {
    worker(session, WorkerHello{"w" + std::to_string(session)});
    return beat_of(session, data, fingerprint);
  }
  lead::Actions beat_of(SessionId session, const std::string& data, const std::string& fingerprint) {
    Heartbeat beat;
    beat.ready = true;
    beat.timeline = timeline;
    beat.data_digest = data;
    beat.fingerprint = fingerprint;
    return worker(session, beat);
  }
  [[nodiscard]] SessionStatus session(SessionId id) const {
    const auto sessions = lead.status().sessions;
    return *std::find_if(sessions.begin(), sessions.end(), [id](const auto& one) { return one.session == id; });
  }
};

const Assign* work_of(const lead::Actions& actions, SessionId session) {
  for (const auto& action : actions) {
    const auto* send = std::get_if<lead::SendToWorker>(&action);
    const auto* assign = send != nullptr && send->session == session ? std::get_if<Assign>(&send->message) : nullptr;
    if (assign != nullptr && !assign->rounds.standing.slots.empty()) {
      return assign;
    }
  }
  return nullptr;
}

const Refused* refusal_of(const lead::Actions& actions, SessionId session) {
  for (const auto& action : actions) {
    const auto* send = std::get_if<lead::SendToWorker>(&action);
    if (send != nullptr && send->session == session && std::holds_alternative<Refused>(send->message)) {
      return &std::get<Refused>(send->message);
    }
  }
  return nullptr;
}

LeadConfig exact() {
  auto config = two_shards::config();
  config.provenance.exact = true;
  return config;
}

}  // namespace

TEST_CASE("no work is given before it is durable by whose data") {
  Guarded job;
  const auto asked = job.ready(1, "d1", "x");
  CHECK(work_of(asked, 1) == nullptr);
  const auto* write = find<lead::WriteLedger>(asked);
  REQUIRE(write != nullptr);
  CHECK(write->change.ledger.provenance.data == Told{"d1", "worker w1"});
  CHECK(write->change.ledger.provenance.arithmetics == std::vector<Told>{{"x", "worker w1"}});
  CHECK(job.lead.phase() == Lead::Phase::waiting);
  CHECK(work_of(job.written(), 1) != nullptr);
  CHECK(job.lead.phase() == Lead::Phase::training);
  CHECK(job.lead.status().data == Told{"d1", "worker w1"});
}

TEST_CASE("a worker with other data waits until the digest is durable, and is refused then") {
  Guarded job;
  job.ready(1, "d1", "x");
  CHECK(refusal_of(job.ready(2, "d2", "x"), 2) == nullptr);  // the lead could die and forget the first one
  const auto after = job.written();
  const auto* refused = refusal_of(after, 2);
  REQUIRE(refused != nullptr);
  CHECK(refused->code == RefusalCode::wrong_bits);
  CHECK(refused->text.find("d1 (worker w1)") != std::string::npos);
  CHECK(work_of(after, 1) != nullptr);
  CHECK(job.lead.status().refused_workers == 1);
  CHECK(job.lead.status().lost_workers == 0);
  CHECK_FALSE(job.session(2).live);
  CHECK(job.session(2).refusal == refused->text);
  CHECK(job.lead.status().bits_trouble.find(refused->text) != std::string::npos);
  // It comes again and again, and is refused again and again.
  CHECK(refusal_of(job.ready(2, "d2", "x"), 2) != nullptr);
  CHECK(job.lead.status().refused_workers == 2);
  // The right data at last: nothing is wrong any more.
  CHECK(work_of(job.ready(2, "d1", "x"), 2) != nullptr);
  CHECK(job.session(2).refusal.empty());
  CHECK(job.lead.status().bits_trouble.empty());
}

TEST_CASE("a new life of a refused worker ends the trouble that the old one was") {
  Guarded job;
  job.ready(1, "d1", "x");
  job.written();
  job.worker(2, WorkerHello{"again"});
  job.beat_of(2, "d2", "x");
  CHECK_FALSE(job.lead.status().bits_trouble.empty());
  job.worker(3, WorkerHello{"again"});
  job.beat_of(3, "d1", "x");
  CHECK(job.lead.status().bits_trouble.empty());
}

TEST_CASE("a lead that was started again goes by what its ledger says") {
  auto config = two_shards::config();
  config.memory.ledger.timeline = 1;
  config.memory.ledger.incarnations = {1, 1};
  config.memory.ledger.complete = {{0, 0}};
  config.memory.ledger.provenance.data = {"d1", "worker w1"};
  config.memory.ledger.provenance.arithmetics = {{"x", "worker w1"}};
  Guarded job(config);
  CHECK(refusal_of(job.ready(2, "d2", "x"), 2) != nullptr);
  CHECK(work_of(job.ready(3, "d1", "x"), 3) != nullptr);
}

TEST_CASE("the job file's digest counts from the beginning") {
  auto config = two_shards::config();
  config.provenance.data_digest = "d1";
  Guarded job(config);
  CHECK(refusal_of(job.ready(2, "d2", "x"), 2) != nullptr);
  CHECK(refusal_of(job.ready(1, "d1", "x"), 1) == nullptr);
  CHECK(work_of(job.written(), 1) != nullptr);
}

TEST_CASE("another arithmetic is refused by an exact job alone; else it trains and is told") {
  Guarded strict(exact());
  strict.ready(1, "d", "x");
  strict.written();
  const auto refused = strict.ready(2, "d", "y");
  REQUIRE(refusal_of(refused, 2) != nullptr);
  CHECK(refusal_of(refused, 2)->text.find("training.exact") != std::string::npos);

  Guarded lenient;
  lenient.ready(1, "d", "x");
  lenient.written();
  CHECK(lenient.lead.status().bits_trouble.empty());
  CHECK(work_of(lenient.ready(2, "d", "y"), 2) == nullptr);  // not before the ledger names it
  lenient.written();
  CHECK(lenient.session(2).live);
  const auto status = lenient.lead.status();
  CHECK(status.arithmetics == std::vector<Told>{{"x", "worker w1"}, {"y", "worker w2"}});
  CHECK(status.bits_trouble.find("worker w2 computes with y, the job began with x (worker w1)") != std::string::npos);
  lenient.worker(2, Goodbye{"leaves"});
  CHECK(lenient.lead.status().bits_trouble.empty());
  CHECK(lenient.lead.status().arithmetics.size() == 2);  // what it brought stays
}

TEST_CASE("a lost worker is not let in by what it said before") {
  Guarded job;
  job.ready(1, "d1", "x");
  job.worker(1, Goodbye{"leaves"});
  job.worker(1, WorkerHello{"w1"});
  CHECK(work_of(job.written(), 1) == nullptr);
  CHECK(work_of(job.beat_of(1, "d1", "x"), 1) != nullptr);
}

TEST_CASE("shards that have read different initial weights do not come together") {
  const auto hello = [](std::uint32_t shard, Incarnation incarnation, const std::string& digest) {
    return ShardHello{{shard, 0}, 2, 1, incarnation, {100 + shard, incarnation}, "spec", "layout", digest,
                      "here",     0, 0, {{}}};
  };
  Fixture job(two_shards::config());
  job.lane(0, hello(0, 1, "i1"));
  const auto refused = two_shards::to_lanes<Refused>(job.lane(1, hello(1, 1, "i2")));
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].code == RefusalCode::wrong_bits);
  CHECK(refused[0].text.find("shard 1") != std::string::npos);
  CHECK(refused[0].text.find("i2") != std::string::npos);
  CHECK(refused[0].text.find("i1 (shard 0)") != std::string::npos);
  job.incarnations[1] = 2;
  const auto begun = job.lane(1, hello(1, 2, "i1"));
  const auto* write = find<lead::WriteLedger>(begun);
  REQUIRE(write != nullptr);
  CHECK(write->change.ledger.provenance.initial_weights == Told{"i1", "shard 0"});
  job.written();
  // One that comes back without its database has to read them again.
  job.incarnations[0] = 3;
  CHECK(two_shards::to_lanes<Refused>(job.lane(0, hello(0, 3, "i2")))[0].code == RefusalCode::wrong_bits);
}
