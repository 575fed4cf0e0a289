// The user's pauses, by the judge alone.
#include <doctest/doctest.h>

#include "tests/simulation/judge/pause.h"
#include "tests/simulation/judge/violation.h"
#include "tests/unit/simulation/small_life.h"

namespace ballast::simulation {
namespace {

using doctest::Contains;
using Command = Control::Command;

Ledger ledger_of(Pause pause) {
  Ledger ledger;
  ledger.timeline = 1;
  ledger.complete = {{1, 2}};
  ledger.pause = pause;
  return ledger;
}

void write(PauseJudge& judge, Pause pause) {
  judge.ledger_given();
  judge.ledger_durable(ledger_of(pause));
  judge.ledger_heard();
}

PauseJudge paused(const LifeSpec& life) {
  PauseJudge judge(life);
  judge.commanded(Command::pause);
  write(judge, Pause::held);
  return judge;
}

Plan plan_of(Version first, std::size_t updates, Timeline timeline = 1) {
  Plan plan;
  plan.timeline = timeline;
  plan.first = first;
  plan.factors.resize(updates);
  plan.until = first + updates;
  return plan;
}

TEST_CASE("pause: the job is called paused as long as the lead knows that to be durable") {
  const auto life = small_life();
  const auto untrue = Contains("the job is called paused, which its ledger does not say");
  PauseJudge judge(life);
  CHECK_THROWS_WITH_AS(judge.called_paused(), untrue, Violation);
  judge.commanded(Command::pause);
  write(judge, Pause::wanted);
  CHECK_THROWS_WITH_AS(judge.called_paused(), untrue, Violation);
  judge.ledger_given();
  judge.ledger_durable(ledger_of(Pause::held));
  CHECK_THROWS_WITH_AS(judge.called_paused(), untrue, Violation);
  judge.ledger_heard();
  CHECK_NOTHROW(judge.called_paused());
  judge.commanded(Command::resume);
  judge.ledger_given();
  judge.ledger_durable(ledger_of(Pause::none));
  CHECK_NOTHROW(judge.called_paused());
  auto next = judge;
  judge.ledger_heard();
  CHECK_THROWS_WITH_AS(judge.called_paused(), untrue, Violation);
  next.lead_starts();
  CHECK_THROWS_WITH_AS(next.called_paused(), untrue, Violation);
  auto held = paused(life);
  held.lead_starts();
  CHECK_NOTHROW(held.called_paused());
}

TEST_CASE("pause: the next lead holds what is durable, whatever was said to its predecessor") {
  const auto life = small_life();
  auto judge = paused(life);
  judge.lead_starts();
  CHECK_THROWS_WITH_AS(judge.applied_item(), Contains("an item is applied while the job is paused"), Violation);
  judge.commanded(Command::resume);
  judge.lead_starts();
  CHECK_THROWS_WITH_AS(judge.planned(plan_of(2, 1)), Contains("updates are planned while"), Violation);
  CHECK_THROWS_WITH_AS(judge.applied_item(), Contains("an item is applied while the job is paused"), Violation);
  auto anew = judge;
  CHECK_THROWS_WITH_AS(write(anew, Pause::none), Contains("a pause is over"), Violation);
  write(judge, Pause::held);
  judge.commanded(Command::resume);
  CHECK_NOTHROW(write(judge, Pause::none));
  judge.lead_starts();
  CHECK_NOTHROW(judge.applied_item());
  judge.commanded(Command::pause);
  write(judge, Pause::held);
  CHECK_THROWS_WITH_AS(judge.applied_item(), Contains("an item is applied while the job is paused"), Violation);
}

TEST_CASE("pause: it ends with the user's word, a stop included, or with the job") {
  const auto life = small_life();
  const auto over = Contains("a pause is over, and neither the user nor the job's end has ended it");
  auto judge = paused(life);
  judge.ledger_given();
  CHECK_THROWS_WITH_AS(judge.ledger_durable(ledger_of(Pause::none)), over, Violation);
  auto finished = ledger_of(Pause::none);
  finished.finished = {1, 4};
  CHECK_NOTHROW(judge.ledger_durable(finished));
  for (const auto command : {Command::resume, Command::stop}) {
    auto ended = paused(life);
    ended.commanded(command);
    CHECK_NOTHROW(write(ended, Pause::none));
  }
  PauseJudge wanted(life);
  wanted.commanded(Command::pause);
  write(wanted, Pause::wanted);
  wanted.ledger_given();
  CHECK_THROWS_WITH_AS(wanted.ledger_durable(ledger_of(Pause::none)), over, Violation);
}

TEST_CASE("pause: the word that has ended one does not end the next") {
  const auto life = small_life();
  auto judge = paused(life);
  judge.commanded(Command::resume);
  write(judge, Pause::none);
  judge.commanded(Command::pause);
  write(judge, Pause::wanted);
  CHECK_THROWS_WITH_AS(write(judge, Pause::none), Contains("a pause is over"), Violation);

  auto anew = paused(life);
  anew.commanded(Command::resume);
  anew.commanded(Command::pause);  // before the end of the first is written
  write(anew, Pause::wanted);
  CHECK_THROWS_WITH_AS(write(anew, Pause::none), Contains("a pause is over"), Violation);
  auto held = paused(life);
  CHECK_THROWS_WITH_AS(write(held, Pause::wanted), Contains("a pause is over"), Violation);
  PauseJudge still_wanted(life);
  still_wanted.commanded(Command::pause);
  write(still_wanted, Pause::wanted);
  still_wanted.commanded(Command::resume);
  still_wanted.commanded(Command::pause);
  write(still_wanted, Pause::wanted);
  CHECK_THROWS_WITH_AS(write(still_wanted, Pause::none), Contains("a pause is over"), Violation);
}

TEST_CASE("pause: the word that ends one may come while its ledger is being written, and another pause as well") {
  const auto life = small_life();
  PauseJudge judge(life);
  judge.commanded(Command::pause);
  judge.ledger_given();
  auto paused_twice = judge;
  paused_twice.commanded(Command::pause);
  paused_twice.ledger_durable(ledger_of(Pause::wanted));
  CHECK_THROWS_WITH_AS(write(paused_twice, Pause::none), Contains("a pause is over"), Violation);
  judge.commanded(Command::resume);
  auto resumed = judge;
  resumed.ledger_durable(ledger_of(Pause::wanted));
  CHECK_NOTHROW(write(resumed, Pause::none));
  judge.commanded(Command::pause);
  judge.ledger_durable(ledger_of(Pause::wanted));
  auto once = judge;
  CHECK_NOTHROW(write(once, Pause::none));
  write(judge, Pause::held);
  CHECK_THROWS_WITH_AS(judge.applied_item(), Contains("an item is applied"), Violation);
}

TEST_CASE("pause: no plan goes beyond the snapshot in it") {
  const auto life = small_life();
  const auto more = Contains("updates are planned while the job is paused");
  PauseJudge judge(life);
  judge.commanded(Command::pause);
  write(judge, Pause::wanted);
  CHECK_NOTHROW(judge.planned(plan_of(0, 3)));
  write(judge, Pause::held);
  CHECK_NOTHROW(judge.planned(plan_of(0, 2)));  // a shard that comes back may be behind
  CHECK_NOTHROW(judge.planned(plan_of(2, 0)));  // a sign of life
  CHECK_THROWS_WITH_AS(judge.planned(plan_of(3, 0)), more, Violation);
  judge.commanded(Command::resume);
  CHECK_THROWS_WITH_AS(judge.planned(plan_of(3, 1)), more, Violation);  // a lead that starts now would find a pause
  write(judge, Pause::none);
  CHECK_NOTHROW(judge.planned(plan_of(3, 1)));
  const auto life_of_items = small_life_of_items(LifeItems::Journal::none);
  auto items = paused(life_of_items);
  CHECK_NOTHROW(items.planned(plan_of(0, 4)));
  CHECK_THROWS_WITH_AS(items.planned(plan_of(0, 5)), more, Violation);
}

TEST_CASE("pause: a job may be paused before it has any snapshot") {
  const auto life = small_life();
  PauseJudge judge(life);
  judge.commanded(Command::pause);
  judge.ledger_given();
  Ledger ledger;
  ledger.pause = Pause::held;
  CHECK_NOTHROW(judge.ledger_durable(ledger));
  CHECK_THROWS_WITH_AS(judge.planned(plan_of(0, 1)), Contains("updates are planned while the job is paused"),
                       Violation);
}

TEST_CASE("pause: no round is applied in it beyond the snapshot") {
  const auto life = small_life();
  PauseJudge judge(life);
  judge.commanded(Command::pause);
  CHECK_NOTHROW(judge.applied_round(3));
  write(judge, Pause::held);
  CHECK_NOTHROW(judge.applied_round(1));
  CHECK_THROWS_WITH_AS(judge.applied_round(2), Contains("step 2 is applied while the job is paused"), Violation);
  judge.commanded(Command::resume);
  CHECK_THROWS_WITH_AS(judge.applied_round(2), Contains("step 2 is applied while the job is paused"), Violation);
  write(judge, Pause::none);
  CHECK_NOTHROW(judge.applied_round(2));
}

TEST_CASE("pause: no item is applied in it") {
  const auto life = small_life_of_items(LifeItems::Journal::none);
  PauseJudge judge(life);
  judge.commanded(Command::pause);
  write(judge, Pause::wanted);
  CHECK_NOTHROW(judge.applied_item());
  write(judge, Pause::held);
  CHECK_THROWS_WITH_AS(judge.applied_item(), Contains("an item is applied while the job is paused"), Violation);
  judge.commanded(Command::stop);
  CHECK_THROWS_WITH_AS(judge.applied_item(), Contains("an item is applied while the job is paused"), Violation);
  write(judge, Pause::none);
  CHECK_NOTHROW(judge.applied_item());
}

}  // namespace
}  // namespace ballast::simulation
