// Objects that are encrypted on their way: what comes back is what was written, or nothing.
#include "storage/copies/sealed_place.h"

#include <cstdint>
#include <set>

#include "storage/checksum.h"
#include "storage/copies/format.h"
#include "storage/copies/seal.h"
#include "tests/unit/storage/copies/key_files.h"
#include "tests/unit/storage/copies/memory_place.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

using testing::loaded_copy_keys;
using testing::MemoryPlace;
using testing::write_copy_keys;

const std::string kSealedName = "job-01234567/run-0000000000000abc/t0000000000000001-s0000000000000014/shard-0-of-2";
const std::string kSealedOther = "job-01234567/run-0000000000000abc/t0000000000000001-s0000000000000014/shard-1-of-2";
constexpr std::size_t kWholePiece = kSealedPiece + kSealTag;

std::string drawn_bytes(std::size_t count, std::uint32_t seed = 1) {
  std::string bytes(count, '\0');
  for (auto& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<char>(seed >> 24U);
  }
  return bytes;
}

// Objects, and whoever has a file of keys to them.
struct Sealed {
  Sealed() : key(make_copy_key()) { write_copy_keys(file, {key}); }

  std::unique_ptr<CopyPlace> place(std::size_t piece = 1U << 20U) {
    return make_sealed_place(std::make_unique<MemoryPlace>(objects, piece), loaded_copy_keys(file));
  }
  std::unique_ptr<CopyPlace> without_key() {
    return make_sealed_place(std::make_unique<MemoryPlace>(objects), CopyKeys());
  }
  // The object's bytes as they lie there.
  std::string& put(const std::string& name, std::string_view content, std::size_t piece = 1U << 20U) {
    return put_into(*place(), name, content, piece);
  }
  std::string& put_into(CopyPlace& into, const std::string& name, std::string_view content, std::size_t piece) {
    auto writer = into.write(name);
    REQUIRE(writer.ok());
    for (std::size_t at = 0; at < content.size(); at += piece) {
      REQUIRE(writer.value()->append(content.substr(at, piece)).ok());
    }
    REQUIRE(writer.value()->finish().ok());
    return objects[name];
  }

  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "copies.key";
  CopyKey key;
  MemoryPlace::Objects objects;
};

struct Got {
  StoreStatus status;
  std::string content;  // that was given out
};

Got get(CopyPlace& place, const std::string& name) {
  Got got;
  got.status = place.read(name, [&got](std::string_view bytes) {
    got.content += bytes;
    return true;
  });
  return got;
}

bool says(const StoreStatus& status, const std::string& text) { return status.text().find(text) != std::string::npos; }

TEST_CASE("objects of every size come back as they were, however they are cut on the way") {
  Sealed sealed;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kSealedPiece - 1, kSealedPiece, kSealedPiece + 1,
                                 2 * kSealedPiece, 3 * kSealedPiece + 17}) {
    CAPTURE(size);
    const auto content = drawn_bytes(size);
    for (const std::size_t piece :
         {std::size_t{1'000'000}, std::size_t{1'001}, size < 9 ? std::size_t{1} : std::size_t{65'521}}) {
      const auto object = sealed.put(kSealedName, content, piece);
      const auto pieces = size == 0 ? 1 : (size + kSealedPiece - 1) / kSealedPiece;
      CHECK(object.size() == 8 + 4 + 8 + 32 + 4 + kSealedName.size() + 4 + size + kSealTag * pieces);
      for (const std::size_t cut :
           {std::size_t{1} << 20U, std::size_t{1'009}, size < 9 ? std::size_t{1} : std::size_t{65'537}}) {
        const auto got = get(*sealed.place(cut), kSealedName);
        CHECK(got.status.text() == "");
        CHECK(got.content == content);
      }
    }
  }
}

TEST_CASE("nothing of what was written is found in an object, and no two objects are alike") {
  Sealed sealed;
  const auto content = "the weights of the model" + std::string(70'000, 'w');
  std::set<std::string> objects;
  for (int times = 0; times < 3; ++times) {
    const auto& object = sealed.put(kSealedName, content);
    CHECK(object.find("weights") == std::string::npos);
    CHECK(object.find("wwww") == std::string::npos);
    objects.insert(object);
  }
  CHECK(objects.size() == 3);
}

// Whatever is changed: it is told, and what was given out before is of what was written.
void is_refused(Sealed& sealed, const std::string& content, const std::string& spoilt) {
  sealed.objects[kSealedName] = spoilt;
  const auto got = get(*sealed.place(), kSealedName);
  CHECK(got.status.code() == StoreCode::corrupt);
  CHECK(got.status.text().starts_with("memory/" + kSealedName + ": "));
  CHECK(content.starts_with(got.content));
  CHECK(got.content.size() % kSealedPiece == 0);
}

TEST_CASE("an object of which any byte is changed is refused") {
  Sealed sealed;
  const auto content = drawn_bytes(100);
  const auto object = sealed.put(kSealedName, content);
  for (std::size_t at = 0; at < object.size(); ++at) {
    for (const int bit : {1, 0x80}) {
      CAPTURE(at);
      auto spoilt = object;
      spoilt[at] = static_cast<char>(spoilt[at] ^ bit);
      is_refused(sealed, content, spoilt);
    }
  }
  const auto longer = drawn_bytes(3 * kSealedPiece);
  const auto large = sealed.put(kSealedName, longer);
  for (std::size_t at = 0; at < large.size(); at += 1'777) {
    CAPTURE(at);
    auto spoilt = large;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 4);
    is_refused(sealed, longer, spoilt);
  }
}

TEST_CASE("an object that ends early, or goes on, is refused") {
  Sealed sealed;
  const auto content = drawn_bytes(100);
  const auto object = sealed.put(kSealedName, content);
  for (std::size_t size = 0; size < object.size(); ++size) {
    CAPTURE(size);
    is_refused(sealed, content, object.substr(0, size));
  }
  is_refused(sealed, content, object + '\0');
  is_refused(sealed, content, object + object.substr(object.size() - 116));
  const auto longer = drawn_bytes(2 * kSealedPiece + 5);
  const auto large = sealed.put(kSealedName, longer);
  const auto head = large.size() - 2 * kWholePiece - 5 - kSealTag;
  for (const auto pieces : {0, 1, 2}) {
    for (const int more : {-1, 0, 1, 16}) {
      CAPTURE(pieces);
      CAPTURE(more);
      is_refused(sealed, longer, large.substr(0, head + static_cast<std::size_t>(pieces) * kWholePiece + more));
    }
  }
}

TEST_CASE("pieces that were moved, doubled, left out or taken from another object are refused") {
  Sealed sealed;
  const auto content = drawn_bytes(3 * kSealedPiece);
  const auto another = sealed.put(kSealedName, drawn_bytes(3 * kSealedPiece, 7));
  const auto object = sealed.put(kSealedName, content);
  const auto head = object.size() - 3 * kWholePiece;
  const auto piece = [&](const std::string& of, std::size_t number) {
    return of.substr(head + number * kWholePiece, kWholePiece);
  };
  const auto begin = object.substr(0, head);
  is_refused(sealed, content, begin + piece(object, 1) + piece(object, 0) + piece(object, 2));
  is_refused(sealed, content, begin + piece(object, 0) + piece(object, 2) + piece(object, 1));
  is_refused(sealed, content, begin + piece(object, 0) + piece(object, 0) + piece(object, 1) + piece(object, 2));
  is_refused(sealed, content, begin + piece(object, 0) + piece(object, 2));
  is_refused(sealed, content, begin + piece(object, 0) + piece(another, 1) + piece(object, 2));
  is_refused(sealed, content, another.substr(0, head) + object.substr(head));
}

TEST_CASE("an object under another one's name is refused") {
  Sealed sealed;
  const auto one = sealed.put(kSealedName, "one");
  sealed.put(kSealedOther, "other");
  std::swap(sealed.objects[kSealedName], sealed.objects[kSealedOther]);
  const auto got = get(*sealed.place(), kSealedOther);
  CHECK(got.status.code() == StoreCode::corrupt);
  CHECK(says(got.status, "memory/" + kSealedOther + ": another object, " + kSealedName + ", lies here"));
  CHECK(got.content.empty());
  CHECK(sealed.place()->look(kSealedOther).code() == StoreCode::corrupt);
  // Whose name was changed in the head as well, and the head's checksum with it.
  auto forged = one;
  const auto at = forged.find(kSealedName);
  forged.replace(at, kSealedName.size(), kSealedOther);
  const auto sum = decode_seal_head(std::string_view(one).substr(0, at + kSealedName.size() + 4));
  REQUIRE(sum.ok());
  for (std::uint64_t tries = 0; tries < 2; ++tries) {
    sealed.objects[kSealedOther] = forged;
    CHECK(get(*sealed.place(), kSealedOther).status.code() == StoreCode::corrupt);
    const auto summed = forged.substr(0, at + kSealedOther.size());
    const auto right = crc32c(summed);
    for (std::size_t byte = 0; byte < 4; ++byte) {
      forged[summed.size() + byte] = static_cast<char>(right >> (8 * byte));
    }
  }
}

TEST_CASE("an object is known from below and from above the place that it was written to") {
  Sealed sealed;
  const auto object = sealed.put(kSealedName, "content");
  const auto below = kSealedName.substr(kSealedName.find('/') + 1);
  for (const auto& name : {below, "archive/" + kSealedName}) {
    sealed.objects[name] = object;
    CHECK(get(*sealed.place(), name).content == "content");
  }
  for (const auto& name : {kSealedName.substr(1), "x" + kSealedName, kSealedName + "0"}) {
    sealed.objects[name] = object;
    CHECK(get(*sealed.place(), name).status.code() == StoreCode::corrupt);
  }
}

TEST_CASE("without the key, with another one, and of a plain object with one: refused in words") {
  Sealed sealed;
  sealed.put(kSealedName, "content");
  const auto refused = [](const std::unique_ptr<CopyPlace>& place, const std::vector<std::string>& texts) {
    for (const auto& status : {get(*place, kSealedName).status, place->look(kSealedName)}) {
      CHECK(status.code() == StoreCode::no_key);
      CHECK(status.text().starts_with("memory/" + kSealedName + ": "));
      for (const auto& text : texts) {
        CHECK_MESSAGE(says(status, text), status.text());
      }
    }
    CHECK(get(*place, kSealedName).content.empty());
  };
  refused(sealed.without_key(),
          {"encrypted by the key " + sealed.key.id, "--copy-key-file", "durability.copy_key_file"});
  const auto another = make_copy_key();
  const auto right = sealed.key;
  write_copy_keys(sealed.file, {another});
  refused(sealed.place(), {right.id, sealed.file.string() + " has " + another.id, "behind the others"});
  for (const auto& plain : {std::string("BLSTCOPY and so on"), std::string(kMarkContent)}) {
    sealed.objects[kSealedName] = plain;
    refused(sealed.place(), {"is not encrypted", sealed.file.string()});
    CHECK(get(*sealed.without_key(), kSealedName).content == plain);
    CHECK(sealed.without_key()->look(kSealedName).ok());
  }
  sealed.objects[kSealedName] = std::string(4096, '\0');  // a block that was lost tells of no key
  CHECK(get(*sealed.place(), kSealedName).status.code() == StoreCode::corrupt);
}

TEST_CASE("without a key objects are as they are") {
  Sealed sealed;
  const auto plain = sealed.without_key();
  for (const auto& content : {std::string(), std::string("B"), std::string("BLST"), drawn_bytes(200'000)}) {
    CHECK(sealed.put_into(*plain, kSealedName, content, 1'000) == content);
    const auto got = get(*plain, kSealedName);
    CHECK(got.status.text() == "");
    CHECK(got.content == content);
  }
}

TEST_CASE("the first key of the file encrypts, all decrypt, and the file is read anew when it changes") {
  Sealed sealed;
  const auto place = sealed.place();
  sealed.put_into(*place, kSealedName, "of the first", 100);
  const auto second = make_copy_key();
  write_copy_keys(sealed.file, {second, sealed.key});
  sealed.put_into(*place, kSealedOther, "of the second", 100);
  CHECK(get(*place, kSealedName).content == "of the first");
  CHECK(get(*place, kSealedOther).content == "of the second");
  write_copy_keys(sealed.file, {second});
  CHECK(get(*place, kSealedName).status.code() == StoreCode::no_key);
  CHECK(get(*place, kSealedOther).content == "of the second");
}

TEST_CASE("a reader that has enough gets no more, and that is no failure") {
  Sealed sealed;
  sealed.put(kSealedName, drawn_bytes(5 * kSealedPiece));
  for (const std::size_t piece : {std::size_t{1} << 20U, std::size_t{500}}) {
    std::size_t given = 0;
    const auto status = sealed.place(piece)->read(kSealedName, [&given](std::string_view bytes) {
      given += bytes.size();
      return given < 2 * kSealedPiece;
    });
    CHECK(status.ok());
    CHECK(given == 2 * kSealedPiece);
  }
  CHECK(sealed.place()->look(kSealedName).ok());
  CHECK(sealed.place()->look(kSealedOther).code() == StoreCode::missing);
  CHECK(sealed.place()->read(kSealedOther, [](std::string_view) { return true; }).code() == StoreCode::missing);
}

TEST_CASE("what is not finished was never there") {
  Sealed sealed;
  const auto place = sealed.place();
  auto writer = place->write(kSealedName);
  REQUIRE(writer.ok());
  REQUIRE(writer.value()->append(drawn_bytes(200'000)).ok());
  writer.value().reset();
  CHECK(sealed.objects.empty());
}

TEST_CASE("bytes of chance are refused, and no more") {
  Sealed sealed;
  const auto head = sealed.put(kSealedName, "").substr(0, 8 + 4 + 8 + 32 + 4);
  std::uint32_t seed = 4711;
  for (int times = 0; times < 20'000; ++times) {
    seed = seed * 1664525U + 1013904223U;
    auto bytes = drawn_bytes(seed >> 21U, seed);
    bytes = head.substr(0, (seed >> 8U) % (head.size() + 1)) + bytes;
    sealed.objects[kSealedName] = bytes;
    const auto got = get(*sealed.place(1 + (seed >> 4U) % 3'000), kSealedName);
    CHECK_FALSE(got.status.ok());
    CHECK(got.content.empty());
    CHECK(get(*sealed.without_key(), kSealedName).status.ok() == !bytes.starts_with("BLSTSEAL"));
  }
}

}  // namespace
}  // namespace ballast
