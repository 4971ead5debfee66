#include "netio/system/system_error.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include "netio/system/file_descriptor.h"
#include "netio/system/log.h"
#include "temporary_directory.h"

using namespace mrclab::netio;
using namespace mrclab::netio::test;

TEST_SUITE("errors, files and logs") {
  TEST_CASE("a failed call says what was attempted and keeps errno") {
    try {
      FileDescriptor::open("/no/such/file", O_RDONLY);
      FAIL("was opened");
    } catch (const SystemError& error) {
      CHECK(error.error_number() == ENOENT);
      CHECK(error.attempted() == "open /no/such/file");
      CHECK(std::string(error.what()) == "cannot open /no/such/file: No such file or directory");
    }
    CHECK(check_system_call("count", 5) == 5);
  }

  TEST_CASE("missing rights, a missing feature and a full disk have an exit code and an advice") {
    struct Row {
      int error_number;
      ErrorKind kind;
      int code;
      const char* advice;
    };
    const Row table[] = {{EPERM, ErrorKind::kMissingRights, 2, "root"},
                         {EACCES, ErrorKind::kMissingRights, 2, "root"},
                         {EOPNOTSUPP, ErrorKind::kMissingFeature, 3, "doctor"},
                         {ENOSYS, ErrorKind::kMissingFeature, 3, "doctor"},
                         {ENOSPC, ErrorKind::kDiskFull, 3, "disk space"},
                         {ENOENT, ErrorKind::kOther, 3, "No such file"}};
    for (const Row& row : table) {
      const SystemError error("do it", row.error_number);
      CHECK(error.kind() == row.kind);
      CHECK(exit_code(error) == row.code);
      CHECK(explain(error).find(row.advice) != std::string::npos);
    }
  }

  TEST_CASE("a file is read and written whole, a full disk and a huge file are errors") {
    TemporaryDirectory directory;
    const std::string text(100'000, 'x');
    write_file(directory / "a", text);
    CHECK(read_file(directory / "a") == text);
    write_file(directory / "a", "short");
    CHECK(read_file(directory / "a") == "short");
    CHECK_THROWS_AS(read_file(directory / "a", 4), SystemError);
    try {
      write_file("/dev/full", "x");
      FAIL("the full disk took it");
    } catch (const SystemError& error) {
      CHECK(error.kind() == ErrorKind::kDiskFull);
    }
  }

  TEST_CASE("a descriptor moves, and closes when its owner dies") {
    int number = -1;
    {
      FileDescriptor a = FileDescriptor::open("/dev/null", O_RDONLY);
      number = a.get();
      FileDescriptor b = std::move(a);
      CHECK_FALSE(a);  // NOLINT: a moved-from handle is empty
      CHECK(b.get() == number);
      CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(::fcntl(number, F_GETFD) == -1);
  }

  TEST_CASE("a log goes to its file, at most twice its bound, and cannot be opened nowhere") {
    TemporaryDirectory directory;
    LogOptions options;
    options.max_bytes = 10'000;
    const auto log = open_log(directory / "a.log", "mrc-test", options);
    log->info("first {}", 1);
    const std::string line = read_file(directory / "a.log");  // at once, without a flush
    CHECK(line.find(" mrc-test[") != std::string::npos);
    CHECK(line.find("] info: first 1\n") != std::string::npos);
    for (int i = 0; i < 1000; ++i) log->info("line {} of many", i);
    size_t bytes = 0;
    for (const char* name : {"a.log", "a.1.log"})
      bytes += std::filesystem::file_size(directory / name);
    CHECK(bytes <= 2 * options.max_bytes);
    CHECK(read_file(directory / "a.log").find("line 999 ") != std::string::npos);
    CHECK_THROWS_AS(open_log("/no/such/directory/a.log", "x"), SystemError);
  }

  TEST_CASE("a full log goes on in the folder where it began, whatever its path leads to by then") {
    TemporaryDirectory directory;
    namespace fs = std::filesystem;
    fs::create_directories(directory / "logs");
    fs::create_directories(directory / "theirs");
    const auto log = open_log(directory / "logs/a.log", "mrc-test", {.max_bytes = 500});
    fs::rename(directory / "logs", directory / "ours");
    fs::create_directory_symlink(directory / "theirs", directory / "logs");
    write_file(directory / "theirs/a.log", "theirs");
    for (int i = 0; i < 100; ++i) log->info("line {} of many", i);
    CHECK(read_file(directory / "theirs/a.log") == "theirs");
    CHECK_FALSE(fs::exists(directory / "theirs/a.1.log"));
    CHECK(read_file(directory / "ours/a.log").find("line 99 ") != std::string::npos);
    fs::remove(directory / "ours/a.1.log");
    fs::create_symlink(directory / "theirs/a.log", directory / "ours/a.1.log");
    for (int i = 0; i < 100; ++i) log->info("line {} of more", i);
    CHECK(fs::is_symlink(directory / "ours/a.1.log"));  // no line is worth what it leads to
    CHECK(fs::file_size(directory / "ours/a.log") <= 500);
    CHECK(read_file(directory / "theirs/a.log") == "theirs");
  }
}
