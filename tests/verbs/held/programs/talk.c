// Two programs that talk over TCP in every way: "talk server", "talk client ADDRESS". What each saw, and when.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { kPort = 18515, kBulk = 1 << 20 };

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
#define SAY(...) (printf("%lld ", now()), printf(__VA_ARGS__), printf("\n"))

static struct sockaddr_in address_of(const char* text, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  if (text != NULL) inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

static char bulk[kBulk];
static void fill(void) {
  for (int i = 0; i < kBulk; ++i) bulk[i] = (char)(i * 31 + (i >> 10));
}

static int read_all(int fd, char* to, int size) {
  int got = 0;
  while (got < size) {
    ssize_t n = read(fd, to + got, (size_t)(size - got));
    if (n <= 0) return got;
    got += (int)n;
  }
  return got;
}

static int server(void) {
  int listening = socket(AF_INET, SOCK_STREAM, 0);
  int on = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in here = address_of(NULL, kPort);
  if (bind(listening, (struct sockaddr*)&here, sizeof here) != 0) return perror("bind"), 1;
  usleep(200);
  if (listen(listening, 5) != 0) return perror("listen"), 1;
  SAY("listens");
  struct sockaddr_in from;
  socklen_t size = sizeof from;
  int fd = accept(listening, (struct sockaddr*)&from, &size);
  SAY("accepted %s:%d", inet_ntoa(from.sin_addr), ntohs(from.sin_port));
  char text[64] = {0};
  ssize_t n = read(fd, text, sizeof text);
  SAY("read %zd: %s", n, text);
  usleep(100);
  n = write(fd, "pong", 4);
  SAY("wrote %zd", n);

  int waiting = 0;
  struct pollfd one = {fd, POLLIN, 0};
  int ready = poll(&one, 1, 1000);
  ioctl(fd, FIONREAD, &waiting);
  SAY("poll %d %d, %d bytes", ready, one.revents, waiting);
  n = recv(fd, text, 3, MSG_PEEK);
  SAY("peeked %zd %.3s", n, text);
  n = recv(fd, text, 7, MSG_WAITALL);
  SAY("received %zd %.7s", n, text);

  static char got[kBulk];
  n = read_all(fd, got, kBulk);
  SAY("bulk %zd, %s", n, memcmp(got, bulk, kBulk) == 0 ? "equal" : "different");
  n = read(fd, text, sizeof text);
  SAY("end %zd", n);
  shutdown(fd, SHUT_WR);
  close(fd);

  // A second connection, by epoll and without waiting.
  fcntl(listening, F_SETFL, O_NONBLOCK);
  fd = accept(listening, NULL, NULL);
  SAY("accept at once: %d %s", fd < 0 ? -1 : 0, fd < 0 ? strerror(errno) : "");
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = 5};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event);
  int found = epoll_wait(epoll, &event, 1, -1);
  SAY("epoll %d %u %u", found, event.events, event.data.u32);
  fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK);
  n = read(fd, text, sizeof text);
  SAY("read at once: %zd %s", n, n < 0 ? strerror(errno) : "");
  event.data.u32 = 6;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  found = epoll_wait(epoll, &event, 1, 1000);
  n = read(fd, text, sizeof text);
  SAY("epoll %d %u, read %zd", found, event.data.u32, n);
  found = epoll_wait(epoll, &event, 1, 1000);
  n = read(fd, text, sizeof text);
  SAY("epoll %d, the other end was killed: read %zd", found, n);
  return 0;
}

static int client(const char* to) {
  struct sockaddr_in there = address_of(to, kPort);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  int result = connect(fd, (struct sockaddr*)&there, sizeof there);
  SAY("too early: %d %s", result, strerror(errno));
  close(fd);
  usleep(1000);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  result = connect(fd, (struct sockaddr*)&there, sizeof there);
  SAY("connect %d", result);
  int copy = dup(fd);
  close(fd);
  fd = copy;
  ssize_t n = write(fd, "ping", 4);
  char text[64] = {0};
  struct timeval limit = {0, 50};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  n = recv(fd, text, sizeof text, 0);
  SAY("within 50 us: %zd %s", n, strerror(errno));
  limit.tv_usec = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  n = read(fd, text, sizeof text);
  SAY("read %zd: %s", n, text);

  usleep(300);
  struct iovec parts[2] = {{"abc", 3}, {"de", 2}};
  n = writev(fd, parts, 2);
  SAY("writev %zd", n);
  usleep(300);
  struct msghdr message = {.msg_iov = (struct iovec[]){{"fg", 2}}, .msg_iovlen = 1};
  n = sendmsg(fd, &message, 0);
  SAY("sendmsg %zd", n);
  int sent = 0;
  while (sent < kBulk) {
    n = write(fd, bulk + sent, (size_t)(kBulk - sent));
    if (n <= 0) break;
    sent += (int)n;
  }
  SAY("bulk %d", sent);
  shutdown(fd, SHUT_WR);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  result = select(fd + 1, &set, NULL, NULL, NULL);
  n = read(fd, text, sizeof text);
  SAY("select %d, end %zd", result, n);
  close(fd);

  usleep(500);
  fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  result = connect(fd, (struct sockaddr*)&there, sizeof there);
  SAY("connect without waiting: %d %s", result, strerror(errno));
  struct pollfd one = {fd, POLLOUT, 0};
  result = poll(&one, 1, 1000);
  int error = -1;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  SAY("poll %d %d, error %d", result, one.revents, error);
  usleep(777);
  n = write(fd, "x", 1);
  usleep(100);
  fflush(stdout);
  SAY("killed");
  fflush(stdout);
  raise(9);
  return 0;
}

int main(int count, char** arguments) {
  fill();
  if (count == 2 && strcmp(arguments[1], "server") == 0) return server();
  if (count == 3 && strcmp(arguments[1], "client") == 0) return client(arguments[2]);
  return 2;
}
