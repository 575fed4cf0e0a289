// Fields that came with a version, and one that went: what peers of other versions are sent, and what theirs means. The
// table is the test's own, so that it shows each kind of change whatever the present messages have.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/wire/read_table.h"
#include "common/wire/write_table.h"
#include "tests/unit/common/wire/evolving_generated.h"

namespace ballast {
namespace {

constexpr std::uint32_t kBefore = 13;
constexpr std::uint32_t kNow = 14;

struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

struct Load {
  double rate = 0;
  std::vector<Span> spans = {};
  bool operator==(const Load&) const = default;
};

struct Order {
  std::uint64_t number = 0;
  std::string text = {};
  std::optional<Load> now = {};
  std::vector<std::uint32_t> ranks = {};
  std::uint32_t limit = 7;
  Span place = {};
  bool operator==(const Order&) const = default;
};

// Version 13 knew one span beside the standing one, which is [0, number).
std::optional<Span> extra_of(const Order& order) {
  for (const auto& span : order.now.value_or(Load{}).spans) {
    if (span.begin >= order.number) {
      return span;
    }
  }
  return std::nullopt;
}

void take_extra(Order& order, const std::optional<Span>& extra) {
  if (extra) {
    order.now = Load{0, {{0, static_cast<std::uint32_t>(order.number)}, *extra}};
  }
}

}  // namespace

namespace wire {

template <>
struct Described<Span> : Plain<Span, fake::Span> {
  static constexpr std::tuple fields{BALLAST_FIELD(begin), BALLAST_FIELD(end)};
  static constexpr std::string_view allowed = "begin < end";
  static Fault fault(const Span& span) { return span.begin < span.end ? Fault{} : Fault(" is empty"); }
};

template <>
struct Described<Load> : Plain<Load, fake::Load> {
  static constexpr std::tuple fields{BALLAST_FIELD(rate, NotNegative{}), BALLAST_FIELD(spans, List{4})};
};

template <>
struct Described<Order> : Plain<Order, fake::Order> {
  static constexpr std::tuple fields{BALLAST_FIELD(number),
                                     Former{"extra", kBefore, &extra_of, &take_extra},
                                     BALLAST_FIELD(text, Line{}),
                                     since(kNow, BALLAST_FIELD(now)),
                                     since(kNow, BALLAST_FIELD(ranks, List{3})),
                                     since(kNow, BALLAST_FIELD(limit)),
                                     since(kNow, BALLAST_FIELD(place))};
};

static_assert(matches_schema<Order>() && matches_schema<Load>() && matches_schema<Span>());
static_assert(is_unchanged<Span>() && !is_unchanged<Order>());

}  // namespace wire

namespace {

class Sent {
 public:
  Sent(const Order& order, std::uint32_t version) {
    builder_.Finish(wire::write(builder_, order, version));
    order_ = flatbuffers::GetRoot<fake::Order>(builder_.GetBufferPointer());
  }
  [[nodiscard]] const fake::Order& as_sent() const { return *order_; }
  [[nodiscard]] std::size_t bytes() const { return builder_.GetSize(); }
  // Whatever it was written in.
  [[nodiscard]] Order read_as(std::uint32_t version, std::string* refusal = nullptr) const {
    wire::Reader reader(version);
    auto order = wire::table<Order>(reader, {nullptr, "Order"}, *order_);
    if (refusal != nullptr) {
      *refusal = reader.refusal() ? reader.refusal()->text : std::string();
    }
    return order;
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
  const fake::Order* order_ = nullptr;
};

Order full() { return {5, "text", Load{0.5, {{0, 5}, {7, 9}, {11, 12}}}, {1, 2}, 8, {3, 4}}; }

TEST_CASE("among peers of the newest version every field comes back equal, and what is former is not sent") {
  const Sent sent(full(), kNow);
  CHECK(sent.read_as(kNow) == full());
  CHECK(sent.as_sent().extra() == nullptr);
  const Sent nothing(Order{}, kNow);
  CHECK(nothing.read_as(kNow) == Order{});
}

TEST_CASE("a peer of the version before is sent what it knows, in its words") {
  const Sent sent(full(), kBefore);
  CHECK(sent.as_sent().number() == 5);
  CHECK(sent.as_sent().text()->str() == "text");
  REQUIRE(sent.as_sent().extra() != nullptr);
  CHECK(sent.as_sent().extra()->begin() == 7);
  CHECK(sent.as_sent().extra()->end() == 9);
  CHECK(sent.as_sent().now() == nullptr);
  CHECK(sent.as_sent().ranks() == nullptr);
  CHECK(sent.as_sent().limit() == 7);
  CHECK(sent.as_sent().place() == nullptr);
  // As if there had never been any other field.
  Order known{5, "text"};
  CHECK(Sent(known, kBefore).bytes() < sent.bytes());
  CHECK(Sent(known, kBefore).as_sent().extra() == nullptr);
}

TEST_CASE("what comes from a peer of the version before means the same here, and the rest is at its default") {
  const auto read = Sent(full(), kBefore).read_as(kBefore);
  CHECK(read == Order{5, "text", Load{0, {{0, 5}, {7, 9}}}});
  CHECK(Sent(Order{5, "text"}, kBefore).read_as(kBefore) == Order{5, "text"});
}

TEST_CASE("a field that the frame's version does not have is not read") {
  CHECK(Sent(full(), kNow).read_as(kBefore) == Order{5, "text"});
  CHECK(Sent(full(), kBefore).read_as(kNow) == Order{5, "text"});
}

TEST_CASE("a former field keeps its rules") {
  auto order = full();
  order.now->spans = {{9, 9}};
  std::string refusal;
  CHECK(Sent(order, kBefore).read_as(kBefore, &refusal).now == std::nullopt);
  CHECK(refusal == "Order.extra is empty");
}

TEST_CASE("rules of what is new are held to wherever it stands") {
  auto order = full();
  CHECK_FALSE(wire::fault_of(order));
  order.now->rate = -1;
  CHECK(wire::fault_of(order).value_or("").starts_with(".now.rate is -1"));
  order = full();
  order.now->spans[1] = {9, 9};
  CHECK(wire::fault_of(order) == std::optional<std::string>(".now.spans[1] is empty"));
}

}  // namespace
}  // namespace ballast
