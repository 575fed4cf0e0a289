// Claims of lives that know nothing of each other, in every order of what they do in the place, and with each of them
// killed at any point.
#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/copies/claim.h"

namespace ballast {
namespace {

struct Killed {};

// Whose turn it is: one claimer at a time does one thing in the place.
class Turns {
 public:
  explicit Turns(std::vector<std::size_t> order) : order_(std::move(order)) {}

  // False: it is killed, for the order has no more turn for it.
  bool take(std::size_t who) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return at_ == order_.size() || order_[at_] == who; });
    return at_ < order_.size();
  }
  void done() {
    const std::scoped_lock lock(mutex_);
    ++at_;
    changed_.notify_all();
  }
  // The turns that are left for it are nobody's.
  void leave(std::size_t who) {
    const std::scoped_lock lock(mutex_);
    order_.erase(std::remove(order_.begin() + static_cast<std::ptrdiff_t>(at_), order_.end(), who), order_.end());
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
};

using Objects = std::set<std::string>;

// A claimer's view of the place that all share.
class SharedPlace : public CopyPlace {
 public:
  SharedPlace(Objects& objects, Turns& turns, std::size_t who) : objects_(objects), turns_(turns), who_(who) {}

  StoreResult<std::unique_ptr<ObjectWriter>> write(const std::string& name) override {
    return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(*this, name));
  }
  StoreStatus read(const std::string& /*name*/, const Sink& /*sink*/) override { return {}; }
  StoreResult<std::vector<std::string>> list(const std::string& prefix) override {
    std::vector<std::string> found;
    in_turn([&] {
      std::ranges::copy_if(objects_, std::back_inserter(found),
                           [&](const std::string& name) { return name.starts_with(prefix); });
    });
    return found;
  }
  StoreStatus remove_unfinished(const std::string& /*prefix*/, const Ours& /*is_ours*/) override { return {}; }
  StoreStatus remove(const std::string& name) override {
    in_turn([&] { objects_.erase(name); });
    return {};
  }
  [[nodiscard]] std::string describe(const std::string& name) const override { return name; }

 private:
  struct Writer : ObjectWriter {
    Writer(SharedPlace& in, std::string as) : place(in), name(std::move(as)) {}
    StoreStatus append(std::string_view /*bytes*/) override { return {}; }
    StoreStatus finish() override {
      place.in_turn([&] { place.objects_.insert(name); });
      return {};
    }
    SharedPlace& place;
    std::string name;
  };

  template <typename Work>
  void in_turn(const Work& work) {
    if (!turns_.take(who_)) {
      throw Killed();
    }
    work();
    turns_.done();
  }

  Objects& objects_;
  Turns& turns_;
  std::size_t who_;
};

struct Claimer {
  LeadLife life;
  std::vector<LeadLife> before;
};

// What each comes to; none: it was killed.
std::vector<std::optional<Claimed>> claims_in(const std::vector<std::size_t>& order,
                                              const std::vector<Claimer>& claimers, Objects& objects) {
  Turns turns(order);
  std::vector<std::optional<Claimed>> outcomes(claimers.size());
  std::vector<std::thread> threads;
  for (std::size_t who = 0; who < claimers.size(); ++who) {
    threads.emplace_back([&, who] {
      SharedPlace place(objects, turns, who);
      try {
        outcomes[who] = claim(place, "run/", {claimers[who].life, claimers[who].before, {}, {}}).value();
      } catch (const Killed&) {
      }
      turns.leave(who);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return outcomes;
}

// All orders in which the first does `first` things at most, and the second `second`.
std::vector<std::vector<std::size_t>> orders(std::size_t first, std::size_t second) {
  std::vector<std::vector<std::size_t>> all;
  std::vector<std::size_t> order(first, 0);
  order.insert(order.end(), second, 1);
  do {
    all.push_back(order);
  } while (std::ranges::next_permutation(order).found);
  return all;
}

// Things that a claim does in the place: list, write, list, write the hold, and remove two.
constexpr std::size_t kMost = 6;

// The first is killed anywhere, or lives on.
std::size_t held_at_once(const std::vector<Claimer>& claimers, const Objects& before) {
  std::size_t most = 0;
  for (std::size_t first = 0; first <= kMost; ++first) {
    for (const auto& order : orders(first, kMost)) {
      auto objects = before;
      const auto outcomes = claims_in(order, claimers, objects);
      most = std::max<std::size_t>(most, std::ranges::count(outcomes, Claimed::held));
    }
  }
  return most;
}

TEST_CASE("of two lives that claim at once one holds the run at most, in every order and wherever they are killed") {
  CHECK(held_at_once({{2, {}}, {3, {}}}, {}) == 1);
  // Both go on from a ledger of life 1, whose claim is there.
  const Objects of_one = {"run/claims/0000000000000001", "run/holds/0000000000000001"};
  CHECK(held_at_once({{2, {1}}, {3, {1}}}, of_one) == 1);
}

TEST_CASE("a life that goes on finds out at its next claim that another one has come after it") {
  const std::vector<std::size_t> alone(kMost, 0);
  std::size_t both = 0;
  // 1 claims anew for its next snapshot, while 2, of a copied folder, claims for the first time.
  for (const auto& order : orders(kMost, kMost)) {
    Objects objects = {"run/claims/0000000000000001", "run/holds/0000000000000001"};
    const auto outcomes = claims_in(order, {{1, {}}, {2, {1}}}, objects);
    if (outcomes[1] == Claimed::held) {
      both += outcomes[0] == Claimed::held ? 1 : 0;
      CHECK(claims_in(alone, {{1, {}}}, objects)[0] == Claimed::taken);
      CHECK_FALSE(objects.contains("run/holds/0000000000000001"));
      CHECK(claims_in(alone, {{2, {1}}}, objects)[0] == Claimed::held);
    }
  }
  CHECK(both > 0);  // of those in which 1 listed before 2 had come
}

}  // namespace
}  // namespace ballast
