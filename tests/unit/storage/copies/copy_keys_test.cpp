#include "storage/copies/copy_keys.h"

#include "tests/unit/storage/copies/key_files.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

using testing::loaded_copy_keys;
using testing::write_copy_keys;

std::string secret_text(const CopyKey& key) {
  const auto line = format_copy_key(key);
  return line.substr(line.find("secret ") + 7, 2 * kCopyKeyBytes);
}

TEST_CASE("a file of keys reads back as it was written, and each key is another") {
  const auto one = make_copy_key();
  const auto two = make_copy_key();
  const auto keys = parse_copy_keys("# remark\r\n\n" + format_copy_key(one) + format_copy_key(two), "file");
  REQUIRE(keys.ok());
  REQUIRE(keys.value().size() == 2);
  CHECK(keys.value()[0].secret == one.secret);
  CHECK(keys.value()[0].id == one.id);
  CHECK(keys.value()[1].secret == two.secret);
  CHECK(one.secret != two.secret);
  CHECK(one.id != two.id);
  CHECK(one.id.size() == 2 * kCopyKeyIdBytes);
  CHECK(secret_text(one).find(one.id) == std::string::npos);
}

// Whoever has a copy of that time reads it by the id that the key had then.
TEST_CASE("a key's id stays what it is") {
  const auto keys = parse_copy_keys("secret " + std::string(62, '0') + "1F\n", "file");
  REQUIRE(keys.ok());
  CHECK(keys.value()[0].id == "b4d5cfea70137b21");
  CHECK(keys.value()[0].secret.back() == 0x1f);
}

TEST_CASE("what is no file of keys is refused by its line, and never shown") {
  const auto key = make_copy_key();
  const auto secret = secret_text(key);
  for (const auto& [text, fault] : {std::pair(std::string("# nothing\n"), "it has no key"),
                                    std::pair("secret " + secret.substr(1) + "\n", "line 1 is neither"),
                                    std::pair("secret " + secret + "0\n", "line 1 is neither"),
                                    std::pair("secret " + secret + " x\n", "line 1 is neither"),
                                    std::pair("secret x" + secret.substr(1) + "\n", "line 1 is neither"),
                                    std::pair("secret +" + secret.substr(1) + "\n", "line 1 is neither"),
                                    std::pair("\n" + secret + "\n", "line 2 is neither"),
                                    std::pair(std::string("secret\n"), "line 1 is neither")}) {
    CAPTURE(fault);
    const auto refused = parse_copy_keys(text, "some/file");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::mismatch);
    CHECK(refused.status().text().starts_with("some/file: "));
    CHECK(refused.status().text().find(fault) != std::string::npos);
    CHECK(refused.status().text().find("ballast keygen --copies") != std::string::npos);
    CHECK(refused.status().text().find(secret.substr(8, 16)) == std::string::npos);
  }
}

TEST_CASE("a file that cannot be read is refused; one that changes is read anew, and one that is spoilt is not") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "copies.key";
  for (const auto& path : {file, folder.path(), std::filesystem::path("/dev/zero")}) {
    const auto refused = CopyKeys::load(path);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::mismatch);
    CHECK(refused.status().text().starts_with(path.string() + ": "));
  }
  const auto one = make_copy_key();
  const auto two = make_copy_key();
  write_copy_keys(file, {one});
  auto keys = loaded_copy_keys(file);
  CHECK(keys.first().id == one.id);
  CHECK(keys.find(two.id) == nullptr);
  write_copy_keys(file, {two, one});
  CHECK(keys.first().id == one.id);
  keys.refresh();
  CHECK(keys.first().id == two.id);
  REQUIRE(keys.find(one.id) != nullptr);
  CHECK(keys.find(one.id)->secret == one.secret);
  CHECK(keys.ids() == two.id + ", " + one.id);
  write_copy_keys(file, {});
  keys.refresh();
  CHECK(keys.first().id == two.id);
  std::filesystem::remove(file);
  keys.refresh();
  CHECK(keys.first().id == two.id);
}

}  // namespace
}  // namespace ballast
