// What both kinds of place promise.
#include "storage/copies/place.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/unit/storage/copies/key_files.h"
#include "tests/unit/storage/copies/s3_server.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

std::unique_ptr<CopyPlace> place_at(const CopyTarget& target) {
  auto place = open_copy_place(target);
  REQUIRE_MESSAGE(place.ok(), (place.ok() ? "" : place.status().text()));
  return std::move(place.value());
}

void put(CopyPlace& place, const std::string& name, std::string_view content, std::size_t piece = 1U << 20U) {
  auto writer = place.write(name);
  REQUIRE_MESSAGE(writer.ok(), (writer.ok() ? "" : writer.status().text()));
  for (std::size_t at = 0; at < content.size(); at += piece) {
    const auto appended = writer.value()->append(content.substr(at, piece));
    REQUIRE_MESSAGE(appended.ok(), appended.text());
  }
  const auto finished = writer.value()->finish();
  REQUIRE_MESSAGE(finished.ok(), finished.text());
}

std::string got(CopyPlace& place, const std::string& name) {
  std::string content;
  const auto status = place.read(name, [&content](std::string_view bytes) {
    content.append(bytes);
    return true;
  });
  REQUIRE_MESSAGE(status.ok(), status.text());
  return content;
}

std::vector<std::string> listed(CopyPlace& place) {
  auto names = place.list();
  REQUIRE_MESSAGE(names.ok(), (names.ok() ? "" : names.status().text()));
  std::sort(names.value().begin(), names.value().end());
  return names.value();
}

std::string many_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::uint32_t state = 1;
  for (auto& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

void keeps_the_contract(CopyPlace& place) {
  CHECK(listed(place).empty());
  put(place, "job/t1/a", "hello");
  put(place, "job/t1/b &<c>~", "");
  put(place, "job/t2/a", "world");
  put(place, "job/t1/a", "anew");
  for (int i = 0; i < 5; ++i) {
    put(place, "other/" + std::to_string(i), "x");
  }
  CHECK(listed(place) == std::vector<std::string>{"job/t1/a", "job/t1/b &<c>~", "job/t2/a", "other/0", "other/1",
                                                  "other/2", "other/3", "other/4"});
  auto below = place.list("job/t").value();
  std::sort(below.begin(), below.end());
  CHECK(below == std::vector<std::string>{"job/t1/a", "job/t1/b &<c>~", "job/t2/a"});
  CHECK(place.list("job/t1/a").value() == std::vector<std::string>{"job/t1/a"});
  CHECK(place.list("job/t3/").value().empty());
  CHECK(got(place, "job/t1/a") == "anew");
  CHECK(got(place, "job/t1/b &<c>~").empty());

  REQUIRE(place.remove("job/t1/a").ok());
  CHECK(place.remove("job/t1/a").ok());
  const auto missing = place.read("job/t1/a", [](std::string_view) { return true; });
  CHECK(missing.code() == StoreCode::missing);
  CHECK(missing.text().find("job/t1/a") != std::string::npos);

  // Abandoned: the old one stays, a new one never was; in one part and in several.
  for (const std::size_t size : {std::size_t{10}, std::size_t{17} << 20U}) {
    for (const auto* name : {"job/t2/a", "job/never"}) {
      auto writer = place.write(name);
      REQUIRE(writer.ok());
      REQUIRE(writer.value()->append(std::string(size, 'x')).ok());
    }
  }
  CHECK(got(place, "job/t2/a") == "world");
  CHECK(listed(place).size() == 7);

  const auto large = many_bytes((std::size_t{33} << 20U) + 12'345);
  put(place, "job/large", large, 3'000'001);
  CHECK(got(place, "job/large") == large);
  std::size_t seen = 0;
  CHECK(place
            .read("job/large",
                  [&seen](std::string_view bytes) {
                    seen += bytes.size();
                    return false;
                  })
            .ok());
  CHECK(seen < large.size());
}

TEST_CASE("a folder keeps the contract") {
  const TemporaryFolder folder;
  const auto root = folder.path() / "not" / "yet";
  const auto place = place_at({root.string(), ""});
  keeps_the_contract(*place);
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    CHECK(file.path().string().find(".part") == std::string::npos);
  }
}

TEST_CASE("an S3 storage keeps the contract, signatures and pages of listings included") {
  const testing::S3Server server;
  keeps_the_contract(*place_at(server.target()));
  // Other prefixes of the bucket are not seen.
  CHECK(listed(*place_at(server.target("/copies/job/t2"))) == std::vector<std::string>{"a"});
  CHECK(listed(*place_at(server.target("/cop"))).empty());
  CHECK(listed(*place_at(server.target(""))).size() == 8);
}

// The storage refuses an object that is begun without it, and every other request that has it.
TEST_CASE("an S3 storage is told how to encrypt each object, whole or in parts, and in no other request") {
  const testing::S3Server plain({"--encryption", "AES256"});
  auto target = plain.target();
  target.s3_encryption = "AES256";
  keeps_the_contract(*place_at(target));
  for (const auto& id : {"", "arn:aws:kms:eu-central-1:111122223333:key/abcd-ef_1"}) {
    const testing::S3Server managed({"--encryption", "aws:kms", "--kms-key", id});
    target = managed.target();
    target.s3_encryption = "aws:kms";
    target.s3_kms_key_id = id;
    keeps_the_contract(*place_at(target));
  }
}

StoreStatus write_refused(CopyPlace& place, std::size_t size) {
  auto writer = place.write("job/a");
  REQUIRE(writer.ok());
  auto status = writer.value()->append(many_bytes(size));
  status = status.ok() ? writer.value()->finish() : status;
  CHECK_FALSE(status.ok());
  return status;
}

TEST_CASE("a storage that wants objects to be encrypted otherwise refuses them, and says so") {
  const testing::S3Server server({"--encryption", "aws:kms", "--kms-key", "mine"});
  auto target = server.target();
  for (const auto& [encryption, id] : {std::pair("none", ""), std::pair("AES256", ""), std::pair("aws:kms", "other")}) {
    target.s3_encryption = encryption;
    target.s3_kms_key_id = id;
    const auto place = place_at(target);
    for (const std::size_t size : {std::size_t{10}, std::size_t{17} << 20U}) {
      CHECK(write_refused(*place, size).text().find("400 InvalidEncryption") != std::string::npos);
    }
  }
}

TEST_CASE("an object that the storage does not encrypt though it was told to is taken back") {
  const testing::S3Server server({"--encryption", "AES256", "--forgets-encryption"});
  auto target = server.target();
  target.s3_encryption = "AES256";
  const auto place = place_at(target);
  for (const std::size_t size : {std::size_t{10}, std::size_t{17} << 20U}) {
    const auto refused = write_refused(*place, size);
    CHECK(refused.text().find("told to encrypt it by AES256 (durability.s3_encryption)") != std::string::npos);
    CHECK(refused.text().find("job/a at " + server.endpoint()) != std::string::npos);
    CHECK(listed(*place).empty());
    std::size_t unfinished = 0;
    const auto count = [&unfinished](const std::string&) {
      ++unfinished;
      return false;
    };
    CHECK(place->remove_unfinished("job/", count).ok());
    CHECK(unfinished == 0);
  }
}

TEST_CASE("places whose objects are encrypted on the way keep the contract") {
  const TemporaryFolder folder;
  const testing::S3Server server;
  const auto file = folder.path() / "copies.key";
  testing::write_copy_keys(file, {make_copy_key()});
  for (auto target : {CopyTarget{(folder.path() / "copies").string(), ""}, server.target()}) {
    target.copy_key_file = file;
    keeps_the_contract(*place_at(target));
  }
  CHECK(listed(*place_at(server.target())).size() == 8);  // names are as they were
}

TEST_CASE("a storage that is busy for a moment is asked again") {
  const testing::S3Server server({"--fail", "2"});
  const auto place = place_at(server.target());
  put(*place, "a", "x");
  CHECK(got(*place, "a") == "x");
}

TEST_CASE("a storage that refuses, or is not there, is an error with its address") {
  const testing::S3Server server;
  ::setenv("AWS_SECRET_ACCESS_KEY", "another", 1);
  const auto refused = place_at(server.target())->list();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StoreCode::io);
  CHECK(refused.status().text().find("s3://models/copies/ at " + server.endpoint()) == 0);
  CHECK(refused.status().text().find("403 SignatureDoesNotMatch") != std::string::npos);
  CHECK(refused.status().text().find("AWS_SECRET_ACCESS_KEY") != std::string::npos);

  const auto unreachable = place_at({"s3://models/copies", "http://127.0.0.1:1"})->list();
  REQUIRE_FALSE(unreachable.ok());
  CHECK(unreachable.status().text().find("http://127.0.0.1:1") != std::string::npos);

  const testing::S3Server again;  // sets the right key
  const auto bucket = place_at({"s3://none", again.endpoint()})->list();
  REQUIRE_FALSE(bucket.ok());
  CHECK(bucket.status().code() == StoreCode::missing);
  CHECK(bucket.status().text().find("NoSuchBucket") != std::string::npos);
}

TEST_CASE("a folder that has to be there is not made anew when it has gone") {
  const TemporaryFolder top;
  const auto folder = top.path() / "copies";
  for (const bool has_to_be_there : {false, true}) {
    const auto place = place_at({folder.string(), "", has_to_be_there});
    const auto writer = place->write("a/b");
    CHECK(writer.ok() == !has_to_be_there);
    if (has_to_be_there) {
      CHECK(writer.status().code() == StoreCode::io);
      CHECK(writer.status().text().find(folder.string()) != std::string::npos);
    }
    std::filesystem::remove_all(folder);
  }
}

TEST_CASE("a place that cannot be one is refused by what is wrong") {
  const testing::S3Server server;
  const auto refusal = [](const CopyTarget& target) {
    const auto place = open_copy_place(target);
    REQUIRE_FALSE(place.ok());
    CHECK(place.status().code() == StoreCode::mismatch);
    return place.status().text();
  };
  CHECK(refusal({"", ""}).find("no place") == 0);
  CHECK(refusal({"https://x/y", ""}).find("s3://BUCKET/PREFIX") != std::string::npos);
  CHECK(refusal({"s3://", ""}).find("no s3://BUCKET") != std::string::npos);
  CHECK(refusal({"s3://b", "host:9000"}).find("durability.s3_endpoint") == 0);
  CHECK(refusal({.place = "/copies", .copy_key_file = "/no/such.key"}).find("/no/such.key: cannot be read") == 0);
  ::unsetenv("AWS_ACCESS_KEY_ID");
  CHECK(refusal({"s3://b", ""}).find("AWS_ACCESS_KEY_ID") != std::string::npos);
}

TEST_CASE("what stays in a folder is listed, whatever vanishes from it meanwhile") {
  const TemporaryFolder folder;
  const auto place = place_at({folder.path().string(), ""});
  const std::vector<std::string> stay = {"job/a/x", "job/m/x", "job/z/x"};
  for (const auto& name : stay) {
    put(*place, name, "stays");
  }
  std::atomic<bool> over = false;
  std::thread another([&] {
    while (!over) {
      for (int set = 0; set < 20; ++set) {
        std::filesystem::create_directories(folder.path() / "job" / std::to_string(set));
      }
      for (int set = 0; set < 20; ++set) {
        std::filesystem::remove(folder.path() / "job" / std::to_string(set));
      }
    }
  });
  int whole = 0;
  for (int times = 0; times < 2'000; ++times) {
    const auto names = place->list("job/");
    whole += names.ok() && std::ranges::is_permutation(names.value(), stay) ? 1 : 0;
  }
  over = true;
  another.join();
  CHECK(whole == 2'000);
}

TEST_CASE("what is written into a folder is there, though the last of what others had in it goes meanwhile") {
  const TemporaryFolder folder;
  const auto target = CopyTarget{(folder.path() / "copies").string(), ""};
  std::atomic<bool> over = false;
  std::thread another([&] {
    const auto place = place_at(target);
    while (!over) {
      std::filesystem::create_directories(folder.path() / "copies" / "job" / "holds");
      static_cast<void>(place->remove("job/holds/another"));  // and the folder, for nothing else is in it
    }
  });
  const auto place = place_at(target);
  std::string refused;
  for (int times = 0; times < 300 && refused.empty(); ++times) {
    const auto writer = place->write("job/holds/own");  // and given up again
    refused = writer.ok() ? "" : writer.status().text();
  }
  over = true;
  another.join();
  CHECK(refused == "");
}

TEST_CASE("a folder that cannot be written is an error") {
  const auto place = place_at({"/proc/nowhere", ""});
  CHECK_FALSE(place->write("job/a").ok());
}

}  // namespace
}  // namespace ballast
