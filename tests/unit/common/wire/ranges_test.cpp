// Every whole number of every message: its last allowed value passes, and one more is refused by its name.
#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <type_traits>

#include "tests/unit/common/wire/each_number.h"
#include "tests/unit/common/wire/refusal.h"

namespace ballast {
namespace {

using wire::each_number;

// ---- which numbers there are

// "Status.sessions[].step", by the schema's structure alone.
template <typename T>
void add_paths(std::set<std::string>& paths, const std::string& path) {
  if constexpr (wire::is_whole_number<T>) {
    paths.insert(path);
  } else if constexpr (wire::is_optional<T>) {
    add_paths<typename T::value_type>(paths, path);
  } else if constexpr (wire::is_list<T>) {
    add_paths<typename T::value_type>(paths, path + "[]");
  } else if constexpr (wire::IsDescribed<T>) {
    wire::for_each_field<T>([&]<std::size_t I>(const auto& field) {
      using Kind = std::remove_cvref_t<decltype(field)>;
      if constexpr (!wire::is_count<Kind> && !wire::is_numbers_of<Kind> && !wire::is_former<Kind>) {
        add_paths<std::remove_cvref_t<decltype(std::declval<T>().*field.member)>>(paths, path + "." + field.name);
      }
    });
  }
}

template <typename... Bodies>
std::set<std::string> all_paths(const std::variant<Bodies...>* /*message*/) {
  std::set<std::string> paths;
  (add_paths<Bodies>(paths, wire::Described<Bodies>::name), ...);
  return paths;
}

// The numbers of lists by the list.
std::string without_places(const std::string& path) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    text += path[i];
    if (path[i] == '[') {
      i = path.find(']', i) - 1;
    }
  }
  return text;
}

// ---- numbers that must agree with others

void agree(SlotRange& range) {
  if (range.begin >= range.end) {
    range.end = kMaxSlots;
    range.begin = std::min(range.begin, kMaxSlots - 1);
  }
}
void agree(ItemRange& range) { range.end = std::max(range.begin, range.end); }
void agree(Standing& standing) { standing.until = std::max(standing.from, standing.until); }
void agree(Evaluation& evaluation) {
  evaluation.begin = std::min(evaluation.begin, ~std::uint32_t{0} - 1);
  evaluation.end = std::max(evaluation.end, evaluation.begin + 1);
}
void agree(Pull& pull) { std::ranges::sort(pull.chunks); }
void agree(Offers& offers) { std::ranges::sort(offers.works); }
void agree(EvaluationResult& result) { result.examples = std::max(result.examples, result.correct); }
void agree(ShardHello& hello) {
  hello.shards = std::max(hello.shards, hello.lane.shard + 1);
  hello.lanes = std::max(hello.lanes, hello.lane.lane + 1);
}
void agree(Push& push) {
  if (push.fault != kNoSlot) {
    push.node = {0, kMaxSlots};
  }
}
void agree(WorkerWelcome& welcome) {
  for (const auto& address : welcome.addresses) {
    welcome.shards = std::max(welcome.shards, address.lane.shard + 1);
    welcome.lanes = std::max(welcome.lanes, address.lane.lane + 1);
  }
}

template <typename T>
void let_agree(T& value) {
  if constexpr (wire::is_optional<T>) {
    if (value) {
      let_agree(*value);
    }
  } else if constexpr (wire::is_list<T>) {
    for (auto& one : value) {
      let_agree(one);
    }
  } else if constexpr (wire::IsDescribed<T>) {
    wire::for_each_field<T>([&]<std::size_t I>(const auto& field) {
      using Kind = std::remove_cvref_t<decltype(field)>;
      if constexpr (!wire::is_count<Kind> && !wire::is_numbers_of<Kind> && !wire::is_former<Kind>) {
        let_agree(value.*field.member);
      }
    });
    if constexpr (requires { agree(value); }) {
      agree(value);
    }
  }
}
// ---- one number of a message

// Calls `change(path, number, rule)` for that number alone.
template <typename Change>
Message with_changed(Message message, std::size_t which, const Change& change) {
  std::size_t at = 0;
  each_number(message, [&](const std::string& path, auto& number, const auto& rule) {
    if (at++ == which) {
      change(path, number, rule);
    }
  });
  return message;
}

std::size_t numbers_of(Message message) {
  std::size_t count = 0;
  each_number(message, [&](const std::string& /*path*/, auto& /*number*/, const auto& /*rule*/) { ++count; });
  return count;
}

template <typename Rule>
constexpr bool kHasLast = requires(const Rule& rule) {
  rule.last();
};

void check_allowed(Message message, const std::string& path) {
  std::visit([](auto& body) { let_agree(body); }, message);
  CAPTURE(path);
  check_decodes_to(encoded(message), message);
}

// A rule for the whole it is a part of may be the one that names it.
void check_refused_by_name(const Message& message, const std::string& path) {
  CAPTURE(path);
  const auto decoded = decode_with_payload(encoded(message), message);
  const auto* refused = std::get_if<Refused>(&decoded);
  REQUIRE(refused != nullptr);
  CAPTURE(refused->text);
  CHECK(refused->code == RefusalCode::out_of_range);
  CHECK((refused->text.starts_with(path + " ") || refused->text.starts_with(path.substr(0, path.rfind('.')) + " ")));
}

template <typename Number, typename Rule>
bool put_last(Number& number, const Rule& rule) {
  if constexpr (kHasLast<Rule>) {
    number = static_cast<Number>(rule.last());
  } else {
    number = std::numeric_limits<Number>::max();
  }
  return true;
}

// False: there is no such number.
template <typename Number, typename Rule>
bool put_one_more(Number& number, const Rule& rule) {
  if constexpr (kHasLast<Rule>) {
    const bool fits = rule.last() < std::numeric_limits<Number>::max();
    number = fits ? static_cast<Number>(rule.last() + 1) : number;
    return fits;
  } else {
    return false;
  }
}

template <typename Put>
Message changed_by(const Message& message, std::size_t which, std::string& path, bool& is_changed, const Put& put) {
  return with_changed(message, which, [&](const std::string& at, auto& number, const auto& rule) {
    path = at;
    is_changed = put(number, rule);
  });
}

TEST_CASE("every whole number passes up to its last value, and is refused by its name beyond") {
  RandomMessages random(20261127);
  std::set<std::string> seen;
  std::set<std::string> limited;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (int i = 0; i < 12; ++i) {
      const auto message = random.of_kind(kind);
      for (std::size_t which = 0; which < numbers_of(message); ++which) {
        std::string path;
        bool is_changed = false;
        const auto last = changed_by(message, which, path, is_changed,
                                     [](auto& number, const auto& rule) { return put_last(number, rule); });
        if (!seen.insert(without_places(path)).second) {
          continue;
        }
        check_allowed(last, path);
        const auto beyond = changed_by(message, which, path, is_changed,
                                       [](auto& number, const auto& rule) { return put_one_more(number, rule); });
        if (is_changed) {
          limited.insert(without_places(path));
          check_refused_by_name(beyond, path);
        }
      }
    }
  }
  CHECK(seen == all_paths(static_cast<const Message*>(nullptr)));
  CHECK(limited.size() > 200);
}

TEST_CASE("whatever is counted from one is not 0") {
  RandomMessages random(5);
  std::set<std::string> refused;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (int i = 0; i < 12; ++i) {
      const auto message = random.of_kind(kind);
      for (std::size_t which = 0; which < numbers_of(message); ++which) {
        std::string path;
        bool is_changed = false;
        const auto zero = changed_by(message, which, path, is_changed, [](auto& number, const auto& rule) {
          using Rule = std::remove_cvref_t<decltype(rule)>;
          number = 0;
          return std::is_same_v<Rule, wire::NotZero> || std::is_same_v<Rule, wire::Counted>;
        });
        if (is_changed && refused.insert(without_places(path)).second) {
          check_refused_by_name(zero, path);
        }
      }
    }
  }
  CHECK(refused.contains("ShardHello.database.count"));
  for (const auto* number : {"Call.number", "CallVoid.number", "ReturnAsked.number"}) {
    CHECK(refused.contains(number));
  }
  CHECK_FALSE(refused.contains("BytesReturned.number"));
  CHECK(refused.contains("LaneReport.slots_by_session[].session"));
}

// The numbers of which the protocol says how large they are.
TEST_CASE("timelines, steps and items have the ranges that the protocol has") {
  const auto refused = [](const Message& message, Words words) { check_out_of_range(message, words); };
  refused(changed<ShardHello>([](auto& hello) { hello.timeline = ~Timeline{0}; }),
          {"ShardHello.timeline", "18446744073709551615", "below 2^48"});
  refused(changed<ShardHello>([](auto& hello) { hello.timeline = Timeline{1} << 48U; }), {"281474976710656", "below"});
  refused(changed<Push>([](auto& push) { push.step = ~Step{0} - 1; }), {"Push.step", "below 2^40"});
  refused(changed<Pull>([](auto& pull) { pull.version = kNewestVersion - 1; }),
          {"Pull.version", "below 2^52, or 2^64 - 1: the newest"});
  refused(changed<Plan>([](auto& plan) { plan.until = Version{1} << 52U; }), {"Plan.until", "no end"});
  refused(changed<Heartbeat>([](auto& beat) {
            beat.delivered = {{Timeline{1} << 53U, 1}};
          }),
          {"Heartbeat.delivered[0].life", "below 2^53"});
  for (const auto version : {kNewestVersion, (Version{1} << 52U) - 1}) {
    const auto pull = changed<Pull>([&](auto& body) { body.version = version; });
    check_decodes_to(encoded(pull), pull);
    const auto plan = changed<Plan>([&](auto& body) { body.until = version; });
    check_decodes_to(encoded(plan), plan);
  }
}

}  // namespace
}  // namespace ballast
