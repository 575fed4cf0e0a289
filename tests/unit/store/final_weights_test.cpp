#include "common/store/final_weights.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "common/numeric/sha256.h"
#include "tests/unit/store/temporary_folder.h"

namespace ballast {
namespace {

constexpr float kPadding = -777;

// Three parameters, laid out by hand: the first crosses a chunk's border, padding stands between, one is state.
//   floats   0..19 "a" | 20..31 padding | 32..36 "b" | 37..47 padding | 48..51 "s" | 52..63 padding | statistics
Arena make_arena() {
  Arena arena;
  arena.parameters = {{"a", {4, 5}, Group::decay, {}}, {"b", {5}, Group::decay, {}}, {"s", {4}, Group::state, {}}};
  arena.extents = {{0, 20}, {32, 5}, {48, 4}};
  arena.chunks = {{0, 0, 16, Group::decay},
                  {1, 16, 32, Group::decay},
                  {2, 48, 16, Group::state},
                  {3, 64, kStatisticsFloats, Group::statistics}};
  arena.elements = 80;
  return arena;
}

float value_at(std::uint64_t element, TensorKind kind) {
  return static_cast<float>(element) + (kind == TensorKind::weights ? 0.5F : 1000.0F);
}

std::vector<float> content_of(const Arena& arena, const Chunk& chunk, TensorKind kind, float padding = kPadding) {
  std::vector<float> content(chunk.elements, padding);
  for (const auto& extent : arena.extents) {
    for (auto at = extent.offset; at < extent.offset + extent.elements; ++at) {
      if (at >= chunk.offset && at < chunk.offset + chunk.elements) {
        content[at - chunk.offset] = value_at(at, kind);
      }
    }
  }
  return content;
}

Identity identity_of(std::uint32_t shard, std::uint32_t shards) {
  return {kDatabaseFormat, "job", "spec", "layout", shard, shards, ""};
}

// What a finished shard leaves behind: the chunks whose id modulo `shards` is `shard`.
void finish(ShardStore& store, std::uint32_t shard, std::uint32_t shards, bool momentum, float padding = kPadding) {
  const auto arena = make_arena();
  REQUIRE(store.claim(identity_of(shard, shards)).ok());
  for (const auto& chunk : arena.chunks) {
    if (chunk.id % shards != shard) {
      continue;
    }
    const auto weights = content_of(arena, chunk, TensorKind::weights, padding);
    REQUIRE(store.write_tensor({1, 10, TensorKind::weights, chunk.id}, std::as_bytes(std::span(weights))).ok());
    if (momentum && chunk.group == Group::decay) {
      const auto velocity = content_of(arena, chunk, TensorKind::momentum, padding);
      REQUIRE(store.write_tensor({1, 10, TensorKind::momentum, chunk.id}, std::as_bytes(std::span(velocity))).ok());
    }
  }
  REQUIRE(store.write_finished({1, 10}).ok());
}

using Shards = std::vector<std::unique_ptr<ShardStore>>;

Shards finished_shards(std::uint32_t shards, bool momentum, float padding = kPadding) {
  Shards made;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    made.push_back(std::make_unique<ShardStore>(std::make_unique<MemoryStore>("shard-" + std::to_string(shard))));
    finish(*made.back(), shard, shards, momentum, padding);
  }
  return made;
}

// The same digest by hand: every parameter's values, one after the other.
std::string digest_by_hand(TensorKind kind) {
  std::vector<float> values;
  const auto arena = make_arena();
  for (std::size_t parameter = 0; parameter < arena.extents.size(); ++parameter) {
    if (kind == TensorKind::momentum && arena.parameters[parameter].group == Group::state) {
      continue;
    }
    for (std::uint64_t element = 0; element < arena.extents[parameter].elements; ++element) {
      values.push_back(value_at(arena.extents[parameter].offset + element, kind));
    }
  }
  return sha256_hex(std::as_bytes(std::span(values)));
}

WeightsDigest digest_of(Shards shards) {
  const auto opened = FinalWeights::open(std::move(shards), make_arena(), "layout");
  REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.status().text()));
  const auto digest = digest_final(opened.value());
  REQUIRE_MESSAGE(digest.ok(), (digest.ok() ? "" : digest.status().text()));
  return digest.value();
}

std::string refusal_of(Shards shards, const std::string& layout = "layout") {
  const auto opened = FinalWeights::open(std::move(shards), make_arena(), layout);
  REQUIRE_FALSE(opened.ok());
  return opened.status().text();
}

TEST_CASE("the digest is that of the parameters' content, for any number of shards in any order") {
  for (const std::uint32_t shards : {1U, 2U, 3U}) {
    CAPTURE(shards);
    auto made = finished_shards(shards, true);
    std::reverse(made.begin(), made.end());
    const auto digest = digest_of(std::move(made));
    CHECK(digest.timeline == 1);
    CHECK(digest.step == 10);
    CHECK(digest.weights == digest_by_hand(TensorKind::weights));
    CHECK(digest.momentum == digest_by_hand(TensorKind::momentum));
  }
}

TEST_CASE("padding does not count, every value does") {
  CHECK(digest_of(finished_shards(2, true, 5.0F)).weights == digest_by_hand(TensorKind::weights));
  auto shards = finished_shards(1, false);
  auto changed = content_of(make_arena(), make_arena().chunks[1], TensorKind::weights);
  changed[3] += 1;  // element 19, the last of "a"
  REQUIRE(shards[0]->write_tensor({1, 10, TensorKind::weights, 1}, std::as_bytes(std::span(changed))).ok());
  CHECK(digest_of(std::move(shards)).weights != digest_by_hand(TensorKind::weights));
}

TEST_CASE("a job without momentum has no digest of it") {
  CHECK(digest_of(finished_shards(2, false)).momentum.empty());
}

TEST_CASE("databases that do not belong together are refused") {
  CHECK(refusal_of({}) == "no shard databases were given");
  CHECK(refusal_of(finished_shards(2, true), "other").find("its layout layout is not the model's, other") !=
        std::string::npos);

  auto missing = finished_shards(2, true);
  missing.pop_back();
  CHECK(refusal_of(std::move(missing)).find("a job of 2 shards; 1 were given") != std::string::npos);

  auto twice = finished_shards(2, true);
  twice[1] = std::move(finished_shards(2, true)[0]);
  CHECK(refusal_of(std::move(twice)).find("shard 0 was given twice") != std::string::npos);

  auto apart = finished_shards(2, true);
  REQUIRE(apart[1]->write_finished({1, 11}).ok());
  CHECK(refusal_of(std::move(apart)).find("finished at timeline 1, step 11") != std::string::npos);

  auto stranger = finished_shards(2, true);
  stranger[1] = std::make_unique<ShardStore>(std::make_unique<MemoryStore>("empty"));
  CHECK(refusal_of(std::move(stranger)).find("no identity") != std::string::npos);

  auto unfinished = std::make_unique<ShardStore>(std::make_unique<MemoryStore>("young"));
  REQUIRE(unfinished->claim(identity_of(0, 1)).ok());
  Shards young;
  young.push_back(std::move(unfinished));
  CHECK(refusal_of(std::move(young)) == "young: the job has not finished: there are no final weights yet");
}

TEST_CASE("a chunk that is missing or has another size is an error with its key") {
  for (const bool present : {false, true}) {
    Shards shards;
    auto memory = std::make_unique<MemoryStore>("shard-0");
    auto* raw = memory.get();
    shards.push_back(std::make_unique<ShardStore>(std::move(memory)));
    finish(*shards[0], 0, 1, false);
    const TensorKey key{1, 10, TensorKind::weights, 1};
    if (present) {
      const std::vector<float> half(5);
      REQUIRE(shards[0]->write_tensor(key, std::as_bytes(std::span(half))).ok());
    } else {
      REQUIRE(raw->write(WriteBatch{}.erase(tensor_key(key)), Sync::no).ok());
    }
    const auto opened = FinalWeights::open(std::move(shards), make_arena(), "layout");
    REQUIRE(opened.ok());
    const auto digest = digest_final(opened.value());
    REQUIRE_FALSE(digest.ok());
    CHECK(digest.status().code() == StoreCode::corrupt);
    CHECK(digest.status().text().find(tensor_key(key)) != std::string::npos);
  }
}

TEST_CASE("pieces of a parameter come in order and add up to it") {
  const auto opened = FinalWeights::open(finished_shards(2, true), make_arena(), "layout");
  REQUIRE(opened.ok());
  std::map<std::size_t, std::vector<float>> found;
  REQUIRE(opened.value()
              .visit(TensorKind::weights,
                     [&found](std::size_t parameter, std::span<const std::byte> piece) {
                       auto& values = found[parameter];
                       const auto before = values.size();
                       values.resize(before + piece.size() / sizeof(float));
                       std::memcpy(values.data() + before, piece.data(), piece.size());
                     })
              .ok());
  REQUIRE(found.size() == 3);
  CHECK(found[0].size() == 20);
  CHECK(found[0][19] == value_at(19, TensorKind::weights));
  CHECK(found[1].size() == 5);
  CHECK(found[2].front() == value_at(48, TensorKind::weights));
}

TEST_CASE("a layout made by the arena is read back from databases on disk") {
  const TemporaryFolder folder;
  const auto arena = lay_out({{"weight", {600, 700}, Group::decay, {}}, {"bias", {700}, Group::no_decay, {}}});
  REQUIRE(arena.chunks.size() > 3);  // the weight needs two chunks
  const auto layout = layout_digest(arena);
  std::vector<float> whole(arena.elements);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    whole[at] = static_cast<float>(at);
  }
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    ShardStore store(std::move(open_rocksdb(shard_database(folder.path(), shard), OpenMode::create).value()));
    REQUIRE(store.claim({kDatabaseFormat, "job", "spec", layout, shard, 2, ""}).ok());
    for (const auto& chunk : arena.chunks) {
      if (chunk.id % 2 == shard) {
        const auto content = std::span(whole).subspan(chunk.offset, chunk.elements);
        REQUIRE(store.write_tensor({1, 5, TensorKind::weights, chunk.id}, std::as_bytes(content)).ok());
      }
    }
    REQUIRE(store.write_finished({1, 5}).ok());
  }
  Sha256 expected;
  for (const auto& extent : arena.extents) {
    expected.update(std::as_bytes(std::span(whole).subspan(extent.offset, extent.elements)));
  }
  const auto databases = find_shard_databases(folder.path());
  REQUIRE(databases.ok());
  const auto digest = digest_final(databases.value(), arena, layout);
  REQUIRE(digest.ok());
  CHECK(digest.value().weights == expected.hex());
  CHECK(digest.value().momentum.empty());
}

}  // namespace
}  // namespace ballast
