#include "common/keys/client_keys.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace ballast {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path.string() + ".new") << text;
  std::filesystem::rename(path.string() + ".new", path);
}

TEST_CASE("each connection expects the next of the servers' keys, as the file has them now") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "worker.key";
  OwnKeys keys{make_key_pair(), {make_key_pair().public_key}};
  write(path, format_keys(keys, "one"));
  ClientKeys client(path);
  const auto first = keys.pair.public_key;
  for (std::uint32_t connection = 0; connection < 3; ++connection) {
    CHECK(client.handshake(connection).server_key == keys.servers[0]);
    CHECK(client.handshake(connection).own.secret_key == keys.pair.secret_key);
  }
  keys.servers.push_back(make_key_pair().public_key);
  write(path, format_keys(keys, "two"));
  CHECK(client.handshake(3).server_key == keys.servers[1]);
  CHECK(client.handshake(4).server_key == keys.servers[0]);
  write(path, "nonsense");
  CHECK(client.handshake(5).server_key == keys.servers[1]);  // as it was
  std::filesystem::remove(path);
  CHECK(client.handshake(6).server_key == keys.servers[0]);
  keys = {make_key_pair(), {make_key_pair().public_key}};
  write(path, format_keys(keys, "three"));
  CHECK(client.handshake(7).server_key == keys.servers[0]);
  CHECK(client.handshake(7).own.public_key == first);  // its session is that key's
}

}  // namespace
}  // namespace ballast
