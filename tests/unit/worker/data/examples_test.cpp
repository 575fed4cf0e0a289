#include "worker/data/examples.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace ballast {
namespace {

using Numbers = std::vector<std::int32_t>;

TEST_CASE("sequences are padded to powers of two and their 1.5-folds, to the data's longest at most") {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> padded = {{1, 8},   {8, 8},   {9, 12},  {12, 12},
                                                                       {13, 16}, {17, 24}, {24, 24}, {25, 32},
                                                                       {33, 48}, {49, 64}, {65, 96}, {97, 100}};
  for (const auto& [length, steps] : padded) {
    CHECK(padded_steps(length, 100) == steps);
  }
  CHECK(padded_steps(3, 5) == 5);
  CHECK(padded_steps(5, 5) == 5);
  CHECK(padded_steps(4000000000U, 4294967295U) == 4294967295U);
  std::set<std::uint32_t> sizes;
  for (std::uint32_t length = 1; length <= 1024; ++length) {
    const auto steps = padded_steps(length, 1024);
    REQUIRE(steps >= length);
    REQUIRE((steps <= 8 || 2 * (steps - length) <= steps));
    sizes.insert(steps);
  }
  CHECK(sizes.size() == 15);
}

ExampleShape tokens_of(std::uint32_t longest, bool same_length = false) {
  ExampleShape shape;
  shape.classes = 3;
  shape.vocabulary = 50;
  shape.steps = longest;
  shape.same_length = same_length;
  return shape;
}

// Writes tokens first, first + 1, ... so many of them.
void write_sequence(const ExampleRoom& room, std::int32_t first, std::uint32_t length) {
  for (std::uint32_t step = 0; step < length; ++step) {
    room.tokens[step] = first + static_cast<std::int32_t>(step);
  }
  room.length[0] = length;
}

TEST_CASE("sequences are padded to the prepared length of the slot's longest, whatever they were filled with") {
  SlotExamples slot(tokens_of(40), 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(slot.room(i).tokens.size() == 40);
    std::ranges::fill(slot.room(i).tokens, 49);
  }
  write_sequence(slot.room(2), 20, 9);  // in any order
  write_sequence(slot.room(0), 1, 2);
  write_sequence(slot.room(1), 10, 5);
  slot.room(1).labels[0] = 2;
  slot.pad();
  const auto batch = slot.batch();
  CHECK(batch.count == 3);
  CHECK(batch.steps == 12);
  CHECK(batch.features.empty());
  CHECK(Numbers(batch.tokens.begin(), batch.tokens.end()) == Numbers{1,  2,  0,  0,  0,  0,  0,  0,  0,  0, 0, 0,
                                                                     10, 11, 12, 13, 14, 0,  0,  0,  0,  0, 0, 0,
                                                                     20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 0, 0});
  CHECK(std::vector<std::uint32_t>(batch.lengths.begin(), batch.lengths.end()) == std::vector<std::uint32_t>{2, 5, 9});
  CHECK(slot.labels == Numbers{0, 2, 0});
}

TEST_CASE("padding of trees has no children and no label, that of floats is 0") {
  ExampleShape shape = tokens_of(21);
  shape.trees = true;
  shape.labels = Labels::steps;
  SlotExamples slot(shape, 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::ranges::fill(slot.room(i).children, 7);
    std::ranges::fill(slot.room(i).labels, 1);
    write_sequence(slot.room(i), 5, 1 + 2 * i);
  }
  slot.pad();
  CHECK(slot.steps == 8);
  CHECK(slot.labels == Numbers{1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, -1, -1, -1, -1, -1});
  CHECK(std::ranges::count(slot.children, 7) == 2 + 6);
  CHECK(std::ranges::count(slot.children, -1) == 2 * 2 * 8 - 8);
  shape = {2, 1, 1, 0, 0, 30, false, false, Labels::numbers};
  shape.classes = 1;
  SlotExamples floats(shape, 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::ranges::fill(floats.room(i).features, 1.5F);
    floats.room(i).length[0] = 9;
    floats.room(i).targets[0] = static_cast<float>(i);
  }
  floats.pad();
  CHECK(floats.steps == 12);
  CHECK(floats.features.size() == 2 * 12 * 2);
  CHECK(std::ranges::count(floats.features, 1.5F) == 2 * 9 * 2);
  CHECK(std::ranges::count(floats.features, 0.0F) == 2 * 3 * 2);
  CHECK(floats.labels.empty());
  CHECK(floats.targets == std::vector<float>{0, 1});
}

TEST_CASE("sequences of one length are not padded") {
  SlotExamples slot(tokens_of(13, true), 2);
  CHECK(slot.room(0).length.empty());
  slot.pad();
  CHECK(slot.batch().steps == 13);
  CHECK(slot.batch().lengths.empty());
  CHECK(slot.batch().tokens.size() == 26);
}

TEST_CASE("an empty slot has nothing to pad") {
  SlotExamples slot(tokens_of(13), 0);
  slot.pad();
  CHECK(slot.batch().count == 0);
  CHECK(slot.batch().tokens.empty());
}

TEST_CASE("a part of a batch has all of its examples' values and the same steps") {
  ExampleShape shape = tokens_of(4);
  shape.trees = true;
  shape.labels = Labels::steps;
  SlotExamples slot(shape, 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    write_sequence(slot.room(i), 10 * static_cast<std::int32_t>(i), 3);
    std::ranges::fill(slot.room(i).children, i);
    std::ranges::fill(slot.room(i).labels, i);
  }
  slot.pad();
  const auto part = part_of(slot.batch(), 1, 2);
  CHECK(part.count == 2);
  CHECK(part.steps == 4);
  CHECK(Numbers(part.tokens.begin(), part.tokens.end()) == Numbers{10, 11, 12, 0, 20, 21, 22, 0});
  CHECK(Numbers(part.labels.begin(), part.labels.end()) == Numbers{1, 1, 1, -1, 2, 2, 2, -1});
  CHECK(part.children.size() == 16);
  CHECK(part.children[0] == 1);
  CHECK(part.lengths.size() == 2);
  CHECK(part.features.empty());
  CHECK(part_of(slot.batch(), 3, 0).count == 0);
  CHECK(part_of(Batch{}, 0, 0).tokens.empty());
}

}  // namespace
}  // namespace ballast
