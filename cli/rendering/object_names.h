// The names of a job's objects in Kubernetes.
#pragma once

#include <cstdint>
#include <string>

namespace ballast {

// The longest base of a name: what is made of it is a label's value and a host's name, 63 characters at most, and has
// up to 10 behind it ("-shard-63", "-workers").
inline constexpr std::size_t kLongestObjectName = 53;

// The base of all names of a job whose name is `job`: it begins with a letter, as a Service's name must, and has
// neither `_` nor `.`, which only a job's may have. Throws UsageError, which tells the way out (--name), if it is too
// long.
std::string object_name_of_job(const std::string& job);

// The same of a name that was typed. Throws UsageError if Kubernetes does not take it.
std::string checked_object_name(const std::string& name);

// "digits-shard-0": of a Service, a Job, a claim and a host.
std::string shard_object_name(const std::string& base, std::uint32_t shard);

// "$(DIGITS_SHARD_0_SERVICE_HOST)": what Kubernetes puts in place of it is the Service's address.
std::string service_host_variable(const std::string& service);

}  // namespace ballast
