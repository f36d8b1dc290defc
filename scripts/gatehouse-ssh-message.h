// Messages between the gateway (gateway/ssh/) and gatehouse-ssh.c. A message is its length in four
// bytes, big-endian, and fields separated by zero bytes. While the gateway itself talks to the
// client, a message is a chunk of the stream, and an empty message is its end.

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// Protocol version, raised with every change. The gateway then requires a new installation.
#define VERSION "2"
#define HEAD_BYTES 4
#define MESSAGE_BYTES_MAX 65536
#define FIELDS_MAX 256
#define ANSWER_S 10

struct message {
  unsigned count;
  char *fields[FIELDS_MAX + 1];
  char bytes[MESSAGE_BYTES_MAX + 1];
};

static struct message answer;

static int connect_gateway(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int gateway = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (gateway < 0) return -1;
  struct timeval limit = {.tv_sec = ANSWER_S};
  setsockopt(gateway, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(gateway, (struct sockaddr *)&address, sizeof address) == 0) return gateway;
  close(gateway);
  return -1;
}

static void write_head(char *into, size_t length) {
  for (int at = 0; at < HEAD_BYTES; at += 1) into[at] = (char)(length >> (24 - 8 * at));
}

// Sends the fields, which end with NULL. False if sending fails.
static int tell(int gateway, ...) {
  static char bytes[HEAD_BYTES + MESSAGE_BYTES_MAX];
  size_t length = 0;
  va_list fields;
  va_start(fields, gateway);
  for (const char *field; (field = va_arg(fields, const char *)) != NULL;) {
    size_t size = strlen(field) + 1;
    if (length + size > MESSAGE_BYTES_MAX) break;
    memcpy(bytes + HEAD_BYTES + length, field, size);
    length += size;
  }
  va_end(fields);
  length -= 1;
  write_head(bytes, length);
  return send(gateway, bytes, HEAD_BYTES + length, MSG_NOSIGNAL) == (ssize_t)(HEAD_BYTES + length);
}

// Time limit for messages that the gateway sends immediately.
static int answer_ms = ANSWER_S * 1000;

static int receive_bytes(int gateway, void *into, size_t length) {
  for (size_t have = 0; have < length;) {
    struct pollfd file = {.fd = gateway, .events = POLLIN};
    if (poll(&file, 1, answer_ms) == 0) return 0;
    ssize_t got = recv(gateway, (char *)into + have, length - have, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return 0;
    have += (size_t)got;
  }
  return 1;
}

// Reads the length of the next message. False if there is none.
static int receive_length(int gateway, size_t *length) {
  unsigned char head[HEAD_BYTES];
  if (!receive_bytes(gateway, head, HEAD_BYTES)) return 0;
  *length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
  return 1;
}

// Reads the next message into `answer`. False if there is none or it is malformed.
static int receive(int gateway) {
  size_t length;
  if (!receive_length(gateway, &length)) return 0;
  if (length > MESSAGE_BYTES_MAX || !receive_bytes(gateway, answer.bytes, length)) return 0;
  answer.bytes[length] = '\0';
  answer.count = 0;
  for (char *field = answer.bytes; field <= answer.bytes + length; field += strlen(field) + 1) {
    if (answer.count == FIELDS_MAX) return 0;
    answer.fields[answer.count++] = field;
  }
  answer.fields[answer.count] = NULL;
  return 1;
}

static int is_answer(const char *kind, unsigned count_min) {
  return answer.count >= count_min && strcmp(answer.fields[0], kind) == 0;
}
