#include <doctest/doctest.h>

#include <string>

#include "common/text/endpoint.h"

using namespace ballast;

TEST_CASE("an address that can be connected to has nothing wrong with it") {
  for (const auto* good : {"tcp://10.0.0.5:7070", "tcp://[::1]:1", "tcp://host.example.org:65535", "tcp://node_3:7070",
                           "tcp://[fe80::1%eth0]:7070", "ipc:///tmp/lead"}) {
    CAPTURE(good);
    CHECK(endpoint_fault(good).empty());
    CHECK(bind_fault(good).empty());
    CHECK(is_endpoint(good));
  }
  for (const auto* chosen : {"tcp://127.0.0.1:*", "tcp://*:0"}) {
    CAPTURE(chosen);
    CHECK(bind_fault(chosen).empty());
    CHECK(endpoint_fault(chosen) == "'" + std::string(chosen) + "' names no port; write the one that is listened on");
  }
}

TEST_CASE("a port is no number modulo 65536") {
  for (const auto fault : {endpoint_fault, bind_fault}) {
    CHECK(fault("tcp://127.0.0.1:99999") ==
          "'tcp://127.0.0.1:99999' has a port that there is not; ports are numbers from 0 to 65535");
    CHECK_FALSE(fault("tcp://127.0.0.1:65536").empty());
    CHECK_FALSE(fault("tcp://127.0.0.1:18446744073709551617").empty());
  }
  CHECK(host_port_fault("127.0.0.1:99999").find("ports are numbers") != std::string::npos);
  CHECK(host_port_fault("127.0.0.1:9100").empty());
  CHECK(host_port_fault("127.0.0.1:0").empty());
}

TEST_CASE("what is no address is told with what one looks like") {
  for (const auto* bad :
       {"foo", "", "tcp://", "tcp://host", "tcp://host:", "tcp://:80", "tcp://host:80a", "tcp://a b:1",
        "tcp://host/x:1", "http://host:80", "ipc://", "10.0.0.5:7070", "tcp://host:-1"}) {
    CAPTURE(bad);
    CHECK(endpoint_fault(bad) ==
          "'" + std::string(bad) + "' is no address; write tcp://HOST:PORT, e.g. tcp://10.0.0.5:7070, or ipc://PATH");
    CHECK_FALSE(bind_fault(bad).empty());
    CHECK_FALSE(is_endpoint(bad));
  }
  CHECK(host_port_fault("9100") == "'9100' is no address; write HOST:PORT, e.g. 127.0.0.1:9100");
}

TEST_CASE("a host is a name or an address, alone or in an address to connect to") {
  for (const std::string host : {"node-3.cluster", "10.0.0.5", "fd00::3", "[fd00::3]", "fe80::1%eth0"}) {
    CAPTURE(host);
    CHECK(host_fault(host).empty());
    CHECK(endpoint_fault("tcp://" + host + ":7070").empty());
  }
  for (const std::string host :
       {"", "a b", "a/b", "a,b", "*", "[node]", "[]", "tcp://node", "a\nb", "fe80::1%", "fe80::1%a b"}) {
    CAPTURE(host);
    CHECK(host_fault(host).find("is no host; write a name or an address without a port, e.g. 10.0.0.5") !=
          std::string::npos);
    CHECK(endpoint_fault("tcp://" + host + ":7070").find("is no address") != std::string::npos);
    CHECK_FALSE(is_endpoint("tcp://" + host + ":7070"));
  }
  CHECK(host_fault("node:7070") == "'node:7070' is no host; write a name or an address without a port, e.g. 10.0.0.5");
}
