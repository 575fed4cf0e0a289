#include "storage/copies/format.h"

#include <doctest/doctest.h>

#include <map>

namespace ballast {
namespace {

constexpr RunId kRun = 0x1f2e;
const CopyName kName{"mnist-0123abcd", {2, 600}, 1, 3, kRun};

class StringWriter final : public ObjectWriter {
 public:
  StoreStatus append(std::string_view bytes) override {
    content.append(bytes);
    return {};
  }
  StoreStatus finish() override {
    finished = true;
    return {};
  }
  std::string content;
  bool finished = false;
};

using Entries = std::map<std::string, std::string>;

Entries some_entries() {
  const std::string values(40, 'w');
  const TensorKey key{{2, 600}, TensorKind::weights, 3};
  return {{"identity", encode(Identity{kDatabaseFormat, "mnist", "spec", "layout", 1, 3, "job: mnist\n"})},
          {tensor_key(key), encode_tensor(key, std::as_bytes(std::span(values)))},
          {statistics_key(5), encode(StepStatistics{5, 1, 2, 8})}};
}

std::string encoded(const Entries& entries) {
  StringWriter writer;
  CopyEncoder encoder(writer, kName);
  for (const auto& [key, record] : entries) {
    REQUIRE(encoder.entry(key, record).ok());
  }
  REQUIRE(encoder.finish().ok());
  CHECK(writer.finished);
  return writer.content;
}

StoreStatus decoded(std::string_view bytes, std::size_t piece, Entries& entries, const CopyName& name = kName) {
  CopyDecoder decoder(name, [&entries](std::string_view key, std::string_view record) {
    entries.emplace(key, record);
    return StoreStatus{};
  });
  while (!bytes.empty()) {
    if (auto status = decoder.take(bytes.substr(0, piece)); !status.ok()) {
      return status;
    }
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return decoder.finish();
}

TEST_CASE("names say job, snapshot and shard, and are read back") {
  CHECK(to_string(kName) == "mnist-0123abcd/run-0000000000001f2e/t0000000000000002-s0000000000000258/shard-1-of-3");
  CHECK(parse_copy_name(to_string(kName)) == kName);
  CHECK(parse_copy_name("t0000000000000002-s0000000000000258/shard-1-of-3") == CopyName{"", {2, 600}, 1, 3});
  CHECK(parse_copy_name("run-0000000000001f2e/t2-s258/shard-1-of-3") == CopyName{"", {2, 600}, 1, 3, kRun});
  // Of older programs; a job may be named like a run.
  CHECK(parse_copy_name("run-0123abcd/t2-s258/shard-1-of-3") == CopyName{"run-0123abcd", {2, 600}, 1, 3});
  const LossesName losses{"mnist-0123abcd", kRun, 2 * kLossesInBlock};
  CHECK(to_string(losses) == "mnist-0123abcd/run-0000000000001f2e/losses/s0000000000004000");
  CHECK(parse_losses_name(to_string(losses)) == losses);
  CHECK_FALSE(parse_copy_name(to_string(losses)));
  CHECK_FALSE(parse_losses_name(to_string(kName)));
  CHECK_FALSE(parse_losses_name("x/losses/s0000000000004001"));
  CHECK(parse_run("0000000000001f2e") == kRun);
  CHECK(parse_run("none") == RunId{0});
  CHECK_FALSE(parse_run("1f2e"));
  CHECK_FALSE(parse_run("0000000000000000"));
  CHECK(parse_copy_name("deep/er/" + to_string(kName))->job == "deep/er/mnist-0123abcd");
  for (const char* other : {"", "/", "job", "job/x/shard-0-of-1", "job/t1-s2/shard-1-of-1", "job/t1-s2/shard-0-of-",
                            "job/t1-s2/shard-0-of-1x", "job/t1-sx/shard-0-of-1", "job/t1-s2/shard--1-of-2",
                            "job/t1-s2/shard-0-of-99999999"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_copy_name(other));
  }
}

TEST_CASE("a job's name becomes one that any storage takes") {
  Identity identity;
  identity.job = "my job/über";
  identity.spec_digest = "0123456789";
  CHECK(copied_job(identity) == "my_job___ber-01234567");
}

TEST_CASE("objects are grouped into sets by job and snapshot") {
  const auto name = [](const char* job, SnapshotId id, std::uint32_t shard) { return to_string({job, id, shard, 2}); };
  const auto grouped = group_copies(
      {name("a", {1, 20}, 1), name("a", {1, 10}, 1), "stranger", name("b", {1, 10}, 0), name("a", {1, 10}, 0)});
  REQUIRE(grouped.size() == 2);
  REQUIRE(grouped.at("a").size() == 2);
  CHECK(grouped.at("a")[0].snapshot == SnapshotId{1, 10});
  CHECK(grouped.at("a")[0].complete());
  CHECK_FALSE(grouped.at("a")[1].complete());
  CHECK_FALSE(grouped.at("b")[0].complete());
}

TEST_CASE("an object comes back in pieces of any size") {
  const auto bytes = encoded(some_entries());
  for (std::size_t piece = 1; piece <= bytes.size(); piece += piece < 40 ? 1 : 37) {
    CAPTURE(piece);
    Entries entries;
    const auto status = decoded(bytes, piece, entries);
    REQUIRE_MESSAGE(status.ok(), status.text());
    REQUIRE(entries == some_entries());
  }
  Entries none;
  CHECK(decoded(encoded({}), 7, none).ok());
  CHECK(none.empty());
}

TEST_CASE("an object with any bit flipped, or cut anywhere, or with more behind it, is refused") {
  const auto bytes = encoded(some_entries());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    CAPTURE(bit);
    auto damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    Entries entries;
    REQUIRE_FALSE(decoded(damaged, 1000, entries).ok());
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Entries entries;
    REQUIRE(decoded(bytes.substr(0, size), 1000, entries).code() == StoreCode::corrupt);
  }
  Entries entries;
  CHECK_FALSE(decoded(bytes + "x", 1, entries).ok());
  CHECK_FALSE(decoded(bytes + bytes, 1000, entries).ok());
}

TEST_CASE("an object of an older format or a newer one is refused by both numbers") {
  for (const std::uint32_t format : {0U, kCopyFormat + 1, 0x01000000U}) {
    auto bytes = encoded(some_entries());
    for (std::size_t byte = 0; byte < sizeof(format); ++byte) {
      bytes[8 + byte] = static_cast<char>(format >> (8 * byte));
    }
    Entries entries;
    const auto refused = decoded(bytes, 1000, entries);
    CHECK(refused.code() == StoreCode::mismatch);
    CHECK(refused.text() == "the copy has format " + std::to_string(format) + "; this program reads formats 1 and 2");
    CHECK(entries.empty());
  }
}

TEST_CASE("entries that change places, or an object under another name, are refused") {
  const auto entries = some_entries();
  Entries found;
  CHECK(decoded(encoded(entries), 100, found, {"mnist-0123abcd", {2, 600}, 0, 3, kRun}).code() == StoreCode::corrupt);
  CHECK(decoded(encoded(entries), 100, found, {"mnist-0123abcd", {2, 601}, 1, 3, kRun}).code() == StoreCode::corrupt);
  CHECK(decoded(encoded(entries), 100, found, {"mnist-0123abcd", {2, 600}, 1, 3, kRun + 1}).code() ==
        StoreCode::corrupt);
  // Where the place itself names the run, the object's head says it.
  CHECK(decoded(encoded(entries), 100, found, {"", {2, 600}, 1, 3}).ok());
  auto swapped = entries;
  swapped[statistics_key(6)] = entries.at(statistics_key(5));
  CHECK(decoded(encoded(swapped), 100, found).text().find(statistics_key(6)) != std::string::npos);
}

}  // namespace
}  // namespace ballast
