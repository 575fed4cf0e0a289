// The main program of every test program, and doctest's own code.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

namespace {

// Says failures once more, as the last lines of stderr: of a test's long output only the end is shown by who runs it.
class LastWords : public doctest::IReporter {
 public:
  explicit LastWords(const doctest::ContextOptions& /*options*/) {}

  void test_case_start(const doctest::TestCaseData& test) override { test_ = &test; }
  void test_case_exception(const doctest::TestCaseException& thrown) override {
    failed(test_->m_file.c_str(), static_cast<int>(test_->m_line),
           (thrown.is_crash ? "crashed: " : "threw: ") + std::string(thrown.error_string.c_str()));
  }
  void log_assert(const doctest::AssertData& check) override {
    if (check.m_failed && (check.m_at & doctest::assertType::is_warn) == 0) {
      const std::string found =
          check.m_threw ? "threw: " + std::string(check.m_exception.c_str()) : check.m_decomp.c_str();
      failed(check.m_file, check.m_line, std::string(check.m_expr) + " (" + found + ")");
    }
  }
  void log_message(const doctest::MessageData& message) override {
    if ((message.m_severity & doctest::assertType::is_warn) == 0) {
      failed(message.m_file, message.m_line, message.m_string.c_str());
    }
  }
  void test_run_end(const doctest::TestRunStats& /*stats*/) override {
    const std::scoped_lock lock(mutex_);
    for (const auto& line : lines_) {
      std::cerr << line << '\n';
    }
    if (failures_ > lines_.size()) {
      std::cerr << "FAILED: " << failures_ - lines_.size() << " more\n";
    }
    std::cerr.flush();
  }

  void report_query(const doctest::QueryData& /*query*/) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData& /*test*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*subcase*/) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData& /*test*/) override {}

 private:
  static constexpr std::size_t kMostLines = 20;
  static constexpr std::size_t kMostCharacters = 280;

  // Asserts may be made on any thread.
  void failed(const char* file, int line, const std::string& why) {
    const std::scoped_lock lock(mutex_);
    if (++failures_ <= kMostLines) {
      lines_.push_back(("FAILED: " + std::string(file) + ":" + std::to_string(line) + ": " + test_->m_name + ": " + why)
                           .substr(0, kMostCharacters));
    }
  }

  std::mutex mutex_;
  const doctest::TestCaseData* test_ = nullptr;
  std::vector<std::string> lines_;
  std::size_t failures_ = 0;
};

}  // namespace

REGISTER_LISTENER("last words", 1, LastWords);
