#include "common/safetensors/initial_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "common/arena/initial.h"
#include "common/safetensors/writer.h"
#include "tests/unit/common/safetensors/support.h"

namespace ballast {
namespace {

using testing::contains;

void write_file(const std::filesystem::path& path, const std::vector<safetensors::Declared>& tensors,
                const std::vector<float>& values) {
  auto writer = safetensors::Writer::create(path, tensors, {});
  REQUIRE_MESSAGE(writer.ok(), writer.status().text());
  REQUIRE(writer.value().append(std::as_bytes(std::span(values))).ok());
  REQUIRE(writer.value().finish().ok());
}

// Every element of every parameter has a value of its own; the file holds the last parameter first.
struct Example {
  Arena arena;
  std::vector<safetensors::Declared> tensors;
  std::vector<float> in_file;
  std::vector<float> in_arena;
};

Example example_of(Arena arena) {
  Example example{std::move(arena), {}, {}, {}};
  example.in_arena.resize(example.arena.elements);
  float value = 1;
  for (std::size_t i = example.arena.parameters.size(); i-- > 0;) {
    const auto& parameter = example.arena.parameters[i];
    example.tensors.push_back({parameter.name, {parameter.shape.begin(), parameter.shape.end()}});
    for (std::uint64_t element = 0; element < parameter.elements(); ++element) {
      example.in_file.push_back(value);
      example.in_arena[example.arena.extents[i].offset + element] = value;
      value += 1;
    }
  }
  return example;
}

void check_chunks(const Example& example) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  write_file(path, example.tensors, example.in_file);
  const auto weights = load_initial(path, example.arena);
  REQUIRE_MESSAGE(weights.ok(), weights.status().text());
  for (const auto& chunk : example.arena.chunks) {
    const auto content = weights.value().chunk(chunk.id);
    REQUIRE_MESSAGE(content.ok(), content.status().text());
    const auto begin = example.in_arena.begin() + static_cast<std::ptrdiff_t>(chunk.offset);
    CHECK(content.value() == std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(chunk.elements)));
  }
}

TEST_CASE("chunks hold their parameters in the arena's layout, padding and statistics zero") {
  check_chunks(example_of(testing::small_arena()));
}

TEST_CASE("a parameter of several chunks is read piece by piece") {
  constexpr std::uint32_t kRows = 3;
  constexpr std::uint32_t kColumns = 200'003;  // 2.4 MB: three chunks
  check_chunks(example_of(lay_out({{"small", {5}, Group::decay, {}},
                                   {"large", {kRows, kColumns}, Group::decay, {}},
                                   {"tail", {3}, Group::state, {}}})));
}

TEST_CASE("a digest is of the values, however the file holds them") {
  const TemporaryFolder folder;
  const auto example = example_of(testing::small_arena());
  const auto digest_of = [&](const std::vector<safetensors::Declared>& tensors, const std::vector<float>& values) {
    const auto path = folder.path() / "weights.safetensors";
    write_file(path, tensors, values);
    return load_initial(path, example.arena).value().digest([] { return true; }).value();
  };
  const auto digest = digest_of(example.tensors, example.in_file);
  CHECK(digest.size() == 32);
  // In the model's order instead of the other one.
  std::vector<safetensors::Declared> tensors(example.tensors.rbegin(), example.tensors.rend());
  std::vector<float> values;
  for (const auto& extent : example.arena.extents) {
    const auto begin = example.in_arena.begin() + static_cast<std::ptrdiff_t>(extent.offset);
    values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(extent.elements));
  }
  REQUIRE(values != example.in_file);
  CHECK(digest_of(tensors, values) == digest);
  auto changed = example.in_file;
  changed.back() += 1;
  CHECK(digest_of(example.tensors, changed) != digest);
}

TEST_CASE("what a partial file lacks is drawn as if there were no file, and a file with nothing of the model is none") {
  const auto arena = lay_out({{"embedding", {4, 3}, Group::decay, {Initial::Kind::uniform, 1}},
                              {"large", {3, 200'003}, Group::decay, {Initial::Kind::uniform, 0.5F}}});
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  const std::vector<float> given(12, 7.0F);
  write_file(path, {{"embedding", {4, 3}}}, given);
  CHECK_FALSE(load_initial(path, arena).ok());
  const auto weights = load_initial(path, arena, 5);
  REQUIRE_MESSAGE(weights.ok(), weights.status().text());
  std::vector<float> found(arena.elements);
  for (const auto& chunk : arena.chunks) {
    std::ranges::copy(weights.value().chunk(chunk.id).value(),
                      found.begin() + static_cast<std::ptrdiff_t>(chunk.offset));
  }
  const auto of = [&](std::size_t parameter) {
    const auto& extent = arena.extents[parameter];
    return std::vector<float>(found.begin() + static_cast<std::ptrdiff_t>(extent.offset),
                              found.begin() + static_cast<std::ptrdiff_t>(extent.offset + extent.elements));
  };
  std::vector<float> drawn(3 * 200'003);
  fill_initial(drawn, arena.parameters[1].initial, 5, 1, 0);
  CHECK(of(0) == given);
  CHECK(of(1) == drawn);
  const auto digest = [&](std::uint64_t seed) {
    return load_initial(path, arena, seed).value().digest([] { return true; }).value();
  };
  CHECK(digest(5) == digest(5));
  CHECK(digest(5) != digest(6));
  write_file(path, {{"other", {4, 3}}}, given);
  CHECK(contains(load_initial(path, arena, 5).status().text(), "'embedding' (4 x 3) is missing from the file"));
  write_file(path, {{"embedding", {4, 3}}, {"other", {1}}}, std::vector<float>(13));
  CHECK(contains(load_initial(path, arena, 5).status().text(), "'other' (1) is no parameter of the model"));
}

TEST_CASE("random models") {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    std::vector<Parameter> parameters;
    for (std::size_t count = 1 + random() % 12; count-- > 0;) {
      parameters.push_back({"p" + std::to_string(count),
                            {std::uint32_t(1 + random() % 40), std::uint32_t(1 + random() % 3000)},
                            random() % 2 == 0 ? Group::decay : Group::no_decay,
                            {}});
    }
    check_chunks(example_of(lay_out(std::move(parameters))));
  }
}

TEST_CASE("all that does not fit is told at once") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  write_file(path, {{"fc.weight", {5, 3}}, {"other", {2}}, {"fc.bias", {3}}}, std::vector<float>(20));
  const auto weights = load_initial(path, testing::small_arena());
  REQUIRE_FALSE(weights.ok());
  CHECK(weights.status().code() == StoreCode::mismatch);
  const auto& text = weights.status().text();
  CHECK(contains(text, path.string()));
  CHECK(contains(text, "'fc.weight' is 5 x 3 in the file and 3 x 5 in the model"));
  CHECK(contains(text, "'fc.scale' (7) is missing from the file"));
  CHECK(contains(text, "'other' (2) is no parameter of the model"));
  CHECK_FALSE(contains(text, "fc.bias"));
}

TEST_CASE("a type that is not read is a difference, and very many differences are counted") {
  const auto arena = testing::small_arena();
  safetensors::Header header;
  header.tensors.push_back({"fc.weight", "F64", {3, 5}, 0, 120});
  header.tensors.push_back({"fc.scale", "BF16", {7}, 120, 134});
  header.tensors.push_back({"fc.bias", "F16", {3}, 134, 140});
  CHECK(differences(header, arena.parameters) ==
        std::vector<std::string>{"'fc.weight' is of type F64, which is not read; F32, F16 and BF16 are"});

  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  std::vector<safetensors::Declared> many;
  for (int i = 0; i < 50; ++i) {
    many.push_back({"extra" + std::to_string(i), {1}});
  }
  write_file(path, many, std::vector<float>(50));
  const auto refused = load_initial(path, arena).status();
  CHECK(contains(refused.text(), "and 33 more"));  // 3 parameters are missing, 20 are told
}

TEST_CASE("values that are not finite are refused by name and place") {
  const auto arena = testing::small_arena();
  const TemporaryFolder folder;
  const auto path = folder.path() / "weights.safetensors";
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> values(15 + 7 + 3, 1.0F);
    values[15 + 4] = bad;
    write_file(path, {{"fc.weight", {3, 5}}, {"fc.scale", {7}}, {"fc.bias", {3}}}, values);
    const auto weights = load_initial(path, arena);
    REQUIRE(weights.ok());
    const auto content = weights.value().chunk(0);
    REQUIRE_FALSE(content.ok());
    CHECK(contains(content.status().text(), "tensor 'fc.scale', element 4 is infinite or not a number"));
    CHECK(weights.value().chunk(1).ok());
  }
}

}  // namespace
}  // namespace ballast
