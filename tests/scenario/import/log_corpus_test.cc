// Every system's lines that corpus.txt holds, and files of logs in the forms in which people have them.

#include <doctest/doctest.h>
#include <unistd.h>

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <set>
#include <sstream>

#include "fabric/base/random.h"
#include "netio/system/file_descriptor.h"
#include "scenario/import/line_event.h"
#include "scenario/import/link_log.h"
#include "scenario/import/log_text.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::error_of;

namespace {

const std::filesystem::path kSource = MRCLAB_SOURCE_DIR;

struct CorpusLine {
  LinkEventKind kind = LinkEventKind::kUp;
  std::string port, line;
};

std::vector<CorpusLine> corpus() {
  std::vector<CorpusLine> lines;
  std::istringstream text(netio::read_file(kSource / "tests/scenario/import/corpus.txt"));
  for (std::string line; std::getline(text, line);) {
    const size_t arrow = line.find(" <= "), blank = line.find(' ');
    if (line.empty() || line.front() == '#' || arrow == std::string::npos) continue;
    lines.push_back({line.starts_with("down")     ? LinkEventKind::kDown
                     : line.starts_with("errors") ? LinkEventKind::kErrors
                                                  : LinkEventKind::kUp,
                     line.substr(blank + 1, arrow - blank - 1), line.substr(arrow + 4)});
  }
  return lines;
}

LinkLog corpus_log(const std::string& text) {
  return read_link_log(text, "x.log", LogFormat::kAuto);
}

/// A bar would end a column of the table in the page.
std::string escaped(std::string_view pattern) {
  std::string text;
  for (const char c : pattern) text += c == '|' ? std::string("\\|") : std::string(1, c);
  return text;
}

/// Seconds from the first event of a log to its last.
double span_of(const LinkLog& log) {
  return static_cast<double>(log.events.back().time.ns - log.events.front().time.ns) * 1e-9;
}

double span_of(const std::string& first, const std::string& second) {
  return span_of(corpus_log(first + " eth0: Link is Down\n" + second + " eth0: Link is Up\n"));
}

}  // namespace

TEST_CASE("each system's lines name the port, with the device where the format has one") {
  for (const CorpusLine& line : corpus()) {
    CAPTURE(line.line);
    LinkLog log;
    CHECK_NOTHROW(log = corpus_log(line.line));
    REQUIRE(log.events.size() == 1);
    CHECK(log.events[0].port == line.port);
    CHECK(log.events[0].kind == line.kind);
    CHECK(log.unread_lines == 0);
  }
}

TEST_CASE("every row of the two tables has a line in the corpus, and stands in docs/logs.md") {
  std::set<const LineFormat*> formats{read_line_header("[  +4.5] eth0: Link is Down").format};
  std::set<const LinkSentence*> sentences;
  for (const CorpusLine& line : corpus()) {
    if (line.line.front() == '{' || line.line.starts_with("data: ")) continue;
    const LineEvent event = read_line_event(line.line);
    formats.insert(event.header.format);
    if (event.message) sentences.insert(event.message->sentence);
  }
  const std::string docs = netio::read_file(kSource / "docs/logs.md");
  for (const LineFormat& row : line_formats()) {
    CAPTURE(row.pattern);
    CHECK(formats.contains(&row));
    const std::string line = "| " + std::string(row.name) + " | `" + escaped(row.pattern) + "` | " +
                             std::string(row.source) + " |";
    if (docs.find(line) == std::string::npos) FAIL_CHECK(line);
  }
  for (const LinkSentence& row : link_sentences()) {
    CAPTURE(row.text);
    const bool told_elsewhere = row.system.find("FortiOS") != std::string::npos;  // key=value
    CHECK((sentences.contains(&row) || told_elsewhere));
    const std::string line = "| " + std::string(row.system) + " | `" + std::string(row.text) +
                             "` | " + std::string(row.source) + " |";
    if (docs.find(line) == std::string::npos) FAIL_CHECK(line);
  }
}

TEST_CASE("two lines of any form are as far apart as they say") {
  CHECK(span_of("[Thu Nov 28 23:59:58 2024]", "[Fri Nov 29 00:00:03 2024]") == 5);
  CHECK(span_of("[Tue Dec 31 23:59:58 2024]", "[Wed Jan  1 00:00:03 2025]") == 5);
  CHECK(span_of("Dec 31 23:59:58", "Jan  1 00:00:03") == 5);
  CHECK(span_of("[Nov28 10:10]", "[  +4.500000]") == 4.5);
  CHECK(span_of("[    0.500000]", "[   12.750000]") == 12.25);
  CHECK(span_of("1732785010", "1732785014.5") == 4.5);
  CHECK(span_of("1732785010123", "1732785014123") == 4);
  CHECK(span_of("1732785010123456", "1732785014123456") == 4);
  CHECK(span_of("1732785010123456789", "1732785014123456789") == 4);
  CHECK(span_of("2024-11-28T10:10:10+01:00", "2024-11-28T09:10:14Z") == 4);
  CHECK(span_of("2024-11-28 10:10:10 +0100", "2024-11-28 09:10:14 UTC") == 4);
  CHECK(span_of("%Nov 28 10:10:10:123 2024", "%Nov 28 10:10:14:623 2024") == 4.5);
  CHECK(span_of("11/28/2024 11:59:58 AM", "11/28/2024 12:00:02 PM") == 4);
  CHECK(span_of("28.11.2024 10:10:10", "28.11.2024 10:10:14") == 4);
  CHECK(span_of("20241128T101010.5Z", "20241128T101014Z") == 3.5);
  CHECK(span_of("Nov 28, 2024 @ 10:10:10.000", "Nov 28, 2024 @ 10:10:14.000") == 4);
  CHECK(span_of("Thu 28 Nov 2024 10:10:10 UTC", "Thu 28 Nov 2024 10:10:14 UTC") == 4);
}

TEST_CASE("a line that cannot be read is counted and named, and the rest goes on") {
  const LinkLog log = corpus_log(
      "Nov 28 10:10:10 leaf-1 kernel: swp3: Link is Down\n"
      "swp4: Link is Down\n"
      "Nov 28 10:10:11 leaf-1 xyzd: the link to spine-1 went down\n" +
      std::string(5000, 'x') +
      "\nNov 28 10:10:12 leaf-1 cron: a job\n[12.5] eth9: Link is Down\n"
      "Nov 28 10:10:14 leaf-1 kernel: swp3: Link is Up\n");
  CHECK(log.events.size() == 2);
  CHECK(log.other_lines == 1);
  CHECK(log.unread_lines == 4);
  std::string named;
  for (const UnreadLine& unread : log.unread) {
    named += std::to_string(unread.line) + " " + unread.reason.substr(0, 22) + "; ";
  }
  CHECK(named ==
        "2 found \"swp4: Link is D; 3 words about a link tha; 4 found 5000 characters ; "
        "6 its time counts from a; ");
  const LinkLog table =
      corpus_log("time,port,event\n0,a1,down\nsoon,a1,up\n2,a1,sideways\n3,a1,up\n");
  CHECK(table.events.size() == 2);
  CHECK(table.unread_lines == 2);
  const LinkLog json = corpus_log(
      "{\"ts\":1,\"msg\":\"eth0: Link down\"}\n{\"ts\":2,\"msg\":\nno\n{\"ts\":5,\"msg\":\"eth0: Link up\"}\n");
  CHECK(json.events.size() == 2);
  CHECK(json.events[1].line == 4);
  CHECK(json.unread_lines == 2);
}

TEST_CASE("tables may be called and separated as people do it") {
  for (
      const std::string text : {
          "time;device;port;event\n2024-11-28 10:10:10;leaf-1;Ethernet1;down\n2024-11-28 10:10:14;leaf-1;Ethernet1;up\n",
          "Time,Hostname,Interface Name,Link Status\n2024-11-28 10:10:10,leaf-1,Ethernet1,Link Down\n2024-11-28 "
          "10:10:14,leaf-1,Ethernet1,Up\n",
          "timestamp\thost\tinterface\tstate\n1732785010123\tleaf-1\tEthernet1\tlowerLayerDown\n1732785014123\tleaf-"
          "1\tEthernet1\t1\n",
          "0.5,leaf-1,Ethernet1,down\n4.5,leaf-1,Ethernet1,up\n",
          "\"_time\",host,\"_raw\"\n\"2024-11-28T10:10:10.000+0000\",leaf-1,\"<6>Nov 28 10:10:10 leaf-1 kernel: "
          "Ethernet1: Link is Down\"\n\"2024-11-28T10:10:14.000+0000\",leaf-1,\"<6>Nov 28 10:10:14 leaf-1 kernel: "
          "Ethernet1: Link is Up\"\n",
          "ifName|ifOperStatus|sysName|epoch\nEthernet1|down(2)|leaf-1|1732785010\nEthernet1|up(1)|leaf-1|1732785014\n",
      }) {
    CAPTURE(text);
    const LinkLog log = corpus_log(text);
    REQUIRE(log.events.size() == 2);
    CHECK(log.events[0].port == "leaf-1 Ethernet1");
    CHECK(log.events[0].kind == LinkEventKind::kDown);
    CHECK(log.events[1].kind == LinkEventKind::kUp);
    CHECK(span_of(log) == 4);
  }
}

TEST_CASE(
    "logs are read compressed, in UTF-16, with marks of order, foreign line ends and colours") {
  const std::string plain =
      "Nov 28 10:10:10 leaf-1 kernel: swp3: Link is Down\nNov 28 10:10:14 leaf-1 kernel: swp3: Link is Up\n";
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mrclab-logs-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto read = [&](const std::string& bytes) {
    netio::write_file(folder / "x.log", bytes);
    return read_link_log_file(folder / "x.log", LogFormat::kAuto);
  };
  const auto compressed = [&](auto filter) {
    std::ostringstream out;
    {
      boost::iostreams::filtering_ostream stream;
      stream.push(filter);
      stream.push(out);
      stream << plain;
    }
    return out.str();
  };
  const auto utf16 = [&](bool little, bool mark) {
    std::string bytes = !mark ? "" : little ? "\xFF\xFE" : "\xFE\xFF";
    for (const char c : plain) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
    return bytes;
  };
  std::string crlf, cr, coloured = "\x1b[32m" + plain.substr(0, 10) + "\x1b[0m" + plain.substr(10);
  for (const char c : plain) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const char c : plain) cr += c == '\n' ? '\r' : c;
  namespace io = boost::iostreams;
  for (const std::string& bytes :
       {plain, "\xEF\xBB\xBF" + plain, crlf, cr, coloured, utf16(true, true), utf16(false, true),
        utf16(true, false), utf16(false, false), compressed(io::gzip_compressor()),
        compressed(io::zstd_compressor()), compressed(io::lzma_compressor())}) {
    const LinkLog log = read(bytes);
    REQUIRE(log.events.size() == 2);
    CHECK(log.events[0].port == "leaf-1 swp3");
    CHECK(span_of(log) == 4);
  }
  CHECK(read(utf16(true, true)).notes == std::vector<std::string>{"The file is in UTF-16."});
  const std::string whole = compressed(io::gzip_compressor());
  CHECK(error_of([&] { read(whole.substr(0, 14)); }).find("damaged") != std::string::npos);
  const LinkLog cut = read(whole.substr(0, whole.size() - 12));
  REQUIRE(cut.notes.size() == 1);
  CHECK(cut.notes[0].find("damaged or cut") != std::string::npos);
  CHECK(error_of([&] { read(std::string(64, '\0')); }).find("no text") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the journal's records with a field on each line are records") {
  for (
      const std::string text :
      {"__CURSOR=s=a;i=1\n__REALTIME_TIMESTAMP=1732785010123456\nMESSAGE=eth0: Link down\n_HOSTNAME=gpu-17\n\n"
       "__CURSOR=s=a;i=2\n__REALTIME_TIMESTAMP=1732785014123456\n_HOSTNAME=gpu-17\nMESSAGE=eth0: Link up\n",
       "Thu 2024-11-28 10:10:10.123456 UTC [s=a;i=1;b=2]\n    _HOSTNAME=gpu-17\n    MESSAGE=eth0: Link down\n"
       "Thu 2024-11-28 10:10:14.123456 UTC [s=a;i=2;b=2]\n    MESSAGE=eth0: Link up\n    _HOSTNAME=gpu-17\n",
       "{\n  \"__REALTIME_TIMESTAMP\" : \"1732785010123456\",\n  \"_HOSTNAME\" : \"gpu-17\",\n  \"MESSAGE\" : "
       "\"eth0: Link down\"\n}\n{\n  \"__REALTIME_TIMESTAMP\" : \"1732785014123456\",\n  \"_HOSTNAME\" : "
       "\"gpu-17\",\n  \"MESSAGE\" : \"eth0: Link up\"\n}\n"}) {
    CAPTURE(text);
    const LinkLog log = corpus_log(text);
    REQUIRE(log.events.size() == 2);
    CHECK(log.events[0].port == "gpu-17 eth0");
    CHECK(span_of(log) == 4);
  }
}

TEST_CASE("whatever bytes the lines of any system have, they are read or refused") {
  const std::vector<CorpusLine> lines = corpus();
  uint64_t draws = 0;
  const auto roll = [&](uint64_t bound) { return below(mix64(++draws), bound); };
  size_t read = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = lines[roll(lines.size())].line + "\n" + lines[roll(lines.size())].line;
    for (uint64_t n = roll(5); n > 0; --n) {
      const size_t at = roll(text.size());
      const uint64_t kind = roll(3);
      if (kind == 0) text[at] = static_cast<char>(roll(256));
      if (kind == 1) text.erase(at, roll(30));
      if (kind == 2) text.insert(at, text.substr(roll(text.size()), roll(40)));
      if (text.empty()) text = "\n";
    }
    try {
      corpus_log(decoded_log(text, "x.log").text);
      ++read;
    } catch (const InputError&) {
    }
  }
  CHECK(read > 1000);
}
