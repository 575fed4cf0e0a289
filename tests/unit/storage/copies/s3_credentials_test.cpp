#include "storage/copies/s3_credentials.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "storage/copies/place.h"
#include "tests/unit/log_file.h"
#include "tests/unit/storage/copies/s3_server.h"
#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

TEST_CASE("a file of keys is read as the AWS command line reads it") {
  const auto of = [](const std::string& text) { return parse_s3_credentials(text, "file"); };
  const std::string pair = "aws_access_key_id = A\naws_secret_access_key=S=/+\n";
  const auto plain = of("[default]\n# remark\n" + pair + "aws_session_token = T \nregion = x\n");
  REQUIRE(plain.ok());
  CHECK(plain.value().access_key == "A");
  CHECK(plain.value().secret_key == "S=/+");
  CHECK(plain.value().session_token == "T");
  const auto of_default = of("[other]\naws_access_key_id=O\naws_secret_access_key=P\n[default]\n" + pair);
  REQUIRE(of_default.ok());
  CHECK(of_default.value().access_key == "A");
  const auto of_first = of("[mine]\r\n" + pair + "[next]\naws_access_key_id=O\naws_secret_access_key=P\n");
  REQUIRE(of_first.ok());
  CHECK(of_first.value().access_key == "A");
  REQUIRE(of(pair).ok());
  for (const auto& [text, fault] :
       {std::pair(std::string(), "it has no pair of keys"),
        std::pair(std::string("[default]\naws_access_key_id = A\n"), "it has no pair of keys"),
        std::pair("[default]\n" + pair + "SECRET\n", "line 4 is neither")}) {
    CAPTURE(fault);
    const auto refused = of(text);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().code() == StoreCode::mismatch);
    CHECK(refused.status().text().starts_with("file: "));
    CHECK(refused.status().text().find(fault) != std::string::npos);
    CHECK(refused.status().text().find("SECRET") == std::string::npos);
  }
}

TEST_CASE("a storage is asked with the keys that its file has now, and the environment is not looked at") {
  const testing::S3Server server;
  const TemporaryFolder folder;
  const auto file = (folder.path() / "credentials").string();
  const auto write = [&file](const std::string& secret) {
    std::ofstream(file + ".new") << "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = " << secret
                                 << "\n";
    std::filesystem::rename(file + ".new", file);
  };
  const std::string right = std::getenv("AWS_SECRET_ACCESS_KEY");
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  auto target = server.target();
  target.s3_credentials_file = file;
  const auto missing = open_copy_place(target);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.status().text().find("no keys for it (durability.s3_credentials_file") != std::string::npos);
  CHECK(missing.status().text().find(file + ": cannot be read") != std::string::npos);
  write("wrong");
  const auto place = open_copy_place(target);
  REQUIRE(place.ok());
  CHECK_FALSE(place.value()->list().ok());
  write(right);
  CHECK(place.value()->list().ok());
  write("");
  CHECK(place.value()->list().ok());  // as it was
}

TEST_CASE("keys in the environment are warned of, and those of a file are not") {
  const LogFile logged;
  const testing::S3Server server;  // whose keys are in the environment from now on
  const TemporaryFolder folder;
  const auto file = folder.path() / "credentials";
  const std::string secret = std::getenv("AWS_SECRET_ACCESS_KEY");
  std::ofstream(file) << "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = " << secret << "\n";
  auto target = server.target();
  target.s3_credentials_file = file.string();
  CHECK(open_copy_place(target).ok());
  CHECK(logged.count("environment") == 0);
  target.s3_credentials_file.clear();
  CHECK(open_copy_place(target).ok());
  CHECK(logged.count("warn  shard/0 the keys of s3://models/copies are in the environment, where more can see them "
                     "than a file: durability.s3_credentials_file") == 1);
  CHECK(logged.count(secret) == 0);
}

}  // namespace
}  // namespace ballast
