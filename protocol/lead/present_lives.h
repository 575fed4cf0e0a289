// Which of the processes that say they are a shard is the shard.
#pragma once

#include <cstdint>
#include <map>

#include "protocol/ids.h"
#include "protocol/ledger.h"
#include "protocol/state_list.h"

namespace ballast {

// The lead's memory of each shard's present life. Who may take its place:
//   1. at once, a later life of the same database: the database's lock shows that the present one is over;
//   2. any other life when the present one has not been heard of for a while: which of two databases is the right one
//      nobody can tell, so the one that works stays. That is also a life of the same database whose count is not
//      higher: the database was copied, or is an earlier state of itself;
//   3. at once, the life that the ledger lists, or a later one of its database, if the present one is of another
//      database and not in the ledger yet: it has served nobody;
//   4. a lead that starts takes the lives of its ledger for present, and its start for the last that it heard of them.
// Pure. Not thread-safe.
class PresentLives {
 public:
  struct Life {
    Incarnation incarnation = 0;
    DatabaseLife database;
    Micros heard_at = 0;

    template <typename = void>
    [[nodiscard]] auto state() const {
      return listed::all(listed::names(incarnation, database.database), listed::plain(database.count),
                         listed::ages(heard_at));
    }
  };

  explicit PresentLives(const Ledger& ledger);

  // Null if nobody has been the shard yet.
  [[nodiscard]] const Life* find(std::uint32_t shard) const;
  // Whether a life is the present one or may take its place. A present life that was not heard of for longer than
  // `silence` yields to anybody.
  [[nodiscard]] bool may_be_present(std::uint32_t shard, Incarnation incarnation, const DatabaseLife& database,
                                    Micros now, Micros silence) const;
  void take(std::uint32_t shard, Incarnation incarnation, const DatabaseLife& database, Micros now);
  // The present life of the shard has spoken.
  void heard(std::uint32_t shard, Micros now);
  // What is durable now.
  void list(const Ledger& ledger);
  // The lead's first moment.
  void begin(Micros now);
  // So long the lead did not listen.
  void forgive(Micros slept);

  // All of it.
  template <typename = void>
  [[nodiscard]] auto state() const {
    return listed::all(listed::parts(lives_, listed_));
  }

 private:
  [[nodiscard]] bool is_of_the_ledger(std::uint32_t shard, Incarnation incarnation, const DatabaseLife& database) const;

  std::map<std::uint32_t, Life> lives_;   // by shard
  std::map<std::uint32_t, Life> listed_;  // by shard
};

}  // namespace ballast
