// How data fail to be read, for who decides whether another try could fare better.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace ballast {

// The data are not what the job says, or are not there: whoever reads them again meets the same, until the data or the
// job file are mended.
class BadData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The system could not read what may well be good: a disk, a network's file system, too little memory, too many open
// files. It may pass.
class ReadFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Whether the same call may fare better later: not where there is no such file, it is none, or it must not be read.
bool may_pass(const std::error_code& error);

// Throws ReadFailure if the error may pass, else std::runtime_error; both say `text`.
[[noreturn]] void throw_unread(const std::string& text, const std::error_code& error);

// What `read` returns. Throws BadData in place of any std::runtime_error that cannot pass.
template <typename Read>
auto reading_data(Read&& read) -> decltype(read()) {
  try {
    return std::forward<Read>(read)();
  } catch (const ReadFailure&) {
    throw;
  } catch (const std::system_error& error) {
    if (may_pass(error.code())) {
      throw ReadFailure(error.what());
    }
    throw BadData(error.what());
  } catch (const std::runtime_error& error) {
    throw BadData(error.what());
  }
}

}  // namespace ballast
