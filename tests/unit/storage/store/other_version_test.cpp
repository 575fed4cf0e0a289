// Databases that other versions of Ballast made. Real ones are in tests/formats.
#include <doctest/doctest.h>

#include <string>

#include "storage/store/shard_store.h"

namespace ballast {
namespace {

constexpr const char* kPath = "runs/x/shard-0";
constexpr const char* kRemedy =
    "Go on with the version that made it; or export its weights with that version (`ballast export`), and begin a run "
    "of its own from them (training.init_from)";

Identity made_as(std::uint32_t format, const std::string& layout) {
  return {format, "mnist", "spec-of-" + layout, layout, 0, 2, "job: mnist\nmodel:\n  name: lenet5\n"};
}

// What a shard is told that finds this identity; it leaves it as it is.
std::string refusal_to_claim(const Identity& there) {
  auto owned = std::make_unique<MemoryStore>(kPath);
  auto* memory = owned.get();
  REQUIRE(memory->write(WriteBatch{}.put(std::string(kIdentityKey), encode(there)), Sync::yes).ok());
  ShardStore shard(std::move(owned));
  const auto claimed = shard.claim(made_as(kDatabaseFormat, "grouped"));
  CHECK(claimed.code() == StoreCode::mismatch);
  CHECK(memory->get(kIdentityKey).value() == encode(there));
  return claimed.text();
}

TEST_CASE("a database of another format is refused by its number, and stays as it is") {
  for (const std::uint32_t format : {0U, 2U, kDatabaseFormat + 1}) {
    const auto text = refusal_to_claim(made_as(format, "grouped"));
    CAPTURE(text);
    CHECK(text.starts_with(kPath));
    CHECK(text.find("made by another version of Ballast: it has format " + std::to_string(format)) !=
          std::string::npos);
    CHECK(text.ends_with(kRemedy));
  }
}

TEST_CASE("a database of the same model in another layout is refused by it, and stays as it is") {
  const auto text = refusal_to_claim(made_as(kDatabaseFormat, "by-layer"));
  CAPTURE(text);
  CHECK(text.starts_with(kPath));
  CHECK(text.find("laid out the model's parameters in another way (layout by-layer there, grouped here)") !=
        std::string::npos);
  CHECK(text.ends_with(kRemedy));
}

}  // namespace
}  // namespace ballast
