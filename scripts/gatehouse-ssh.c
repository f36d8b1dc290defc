// Helper between sshd and the running gateway, to which it connects over a Unix socket. `keys` is
// sshd's AuthorizedKeysCommand; `serve` is the forced command of every key. The gateway makes all
// authorization decisions.
//
//   gatehouse-ssh keys SOCKET TYPE KEY        prints the authorized_keys line of a known key
//   gatehouse-ssh serve SOCKET FINGERPRINT    runs SSH_ORIGINAL_COMMAND if the gateway permits it
//   gatehouse-ssh away                        prints that the gateway is unavailable

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gatehouse-ssh-message.h"

// Limit of strings from the client; the gateway rejects commands longer than any that git sends.
#define WORD_BYTES_MAX 4096
#define KEY_BYTES_MAX 16384
#define TURN_S 3600
#define KEEP_S 120
#define TERMINATE_GRACE_MS 500

#define AWAY "Gatehouse does not answer at this moment. Try again in a minute."
#define LOST "Gatehouse has ended the connection. Try again in a minute."
#define IDLE "Gatehouse closed the connection, because it was idle for too long."

static int say(const char *sentence) {
  fprintf(stderr, "%s\n", sentence);
  return 1;
}

// ---------------------------------------------------------------------------- keys

// True if a text needs no quotes in a line of authorized_keys and in a shell command.
static int is_plain(const char *text, size_t length_max) {
  size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                               "@%_+=:,./-");
  return length > 0 && length <= length_max && text[length] == '\0';
}

// Prints the authorized_keys line of a known key. If the gateway is unavailable, any key gets a
// line that only prints the reason, so that the client sees more than "permission denied".
static int print_key(char **words) {
  const char *program = words[0], *path = words[2], *type = words[3], *key = words[4];
  if (!is_plain(program, WORD_BYTES_MAX) || !is_plain(path, WORD_BYTES_MAX)) {
    return say("gatehouse-ssh: the path of the program or the socket has unsupported characters");
  }
  if (!is_plain(type, 256) || !is_plain(key, KEY_BYTES_MAX)) return 0;
  int gateway = connect_gateway(path);
  int is_answered =
      gateway >= 0 && tell(gateway, VERSION, "keys", type, key, NULL) && receive(gateway);
  if (is_answered && is_answer("unknown", 1)) return 0;
  // Without exec, a shell process would remain until the end of the session.
  printf("restrict,command=\"exec %s ", program);
  if (is_answered && is_answer("known", 2) && is_plain(answer.fields[1], 256)) {
    printf("serve %s %s", path, answer.fields[1]);
  } else {
    printf("away");
  }
  printf("\" %s %s\n", type, key);
  return 0;
}

// ---------------------------------------------------------------------------- serve

// One direction of the relay. Bytes from `start` to `end` are read and not yet written.
struct flow {
  int from, to;
  size_t start, end;
  // Number of final bytes that are held until the gateway confirms that the push is durable.
  size_t held;
  uint64_t total;
  char bytes[65536];
};

static struct flow inbound = {.from = 0}, outbound = {.to = 1};

static void shut(int *file) {
  if (*file >= 0) close(*file);
  *file = -1;
}

static size_t waiting(const struct flow *flow) {
  size_t length = flow->end - flow->start;
  return length > flow->held ? length - flow->held : 0;
}

// Reads available bytes. Closes the file at its end and on an error.
static void fill(struct flow *flow) {
  if (flow->start > 0) {
    memmove(flow->bytes, flow->bytes + flow->start, flow->end - flow->start);
    flow->end -= flow->start;
    flow->start = 0;
  }
  ssize_t got = read(flow->from, flow->bytes + flow->end, sizeof flow->bytes - flow->end);
  if (got > 0) {
    flow->end += (size_t)got;
    flow->total += (uint64_t)got;
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    shut(&flow->from);
  }
}

// Writes bytes that are not held. False if the reader has closed the file.
static int drain(struct flow *flow) {
  ssize_t put = write(flow->to, flow->bytes + flow->start, waiting(flow));
  if (put > 0) flow->start += (size_t)put;
  return put >= 0 || errno == EAGAIN || errno == EINTR;
}

// Starts git in its own process group, with only the environment from the gateway's response.
static pid_t start_git(char **words, char **environment, const char *folder) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) return -1;
  pid_t git = fork();
  if (git == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || chdir(folder) < 0) _exit(126);
    execve(words[0], words + 1, environment);
    _exit(127);
  }
  if (git > 0) setpgid(git, git);
  close(in[0]);
  close(out[1]);
  inbound.to = in[1];
  outbound.from = out[0];
  return git;
}

static int end_git(pid_t git) {
  int status = 0;
  kill(-git, SIGTERM);
  for (int waited_ms = 0; waited_ms < TERMINATE_GRACE_MS; waited_ms += 10) {
    if (waitpid(git, &status, WNOHANG) == git) break;
    poll(NULL, 0, 10);
  }
  kill(-git, SIGKILL);
  waitpid(git, &status, 0);
  return 1;
}

// Reads a message during the relay: permission to start, or the reason why the session ends.
static const char *hear(int gateway, int *may_begin) {
  if (!receive(gateway)) return LOST;
  if (!is_answer("go", 1)) return answer.count > 1 ? answer.fields[1] : LOST;
  *may_begin = 1;
  return NULL;
}

// Relays bytes until git closes its output. Returns NULL, or the message for the client with which
// the session ends; an empty message if the client is disconnected.
static const char *relay(int gateway, int is_push, int idle_ms) {
  int may_begin = !is_push;
  while (outbound.from >= 0 || waiting(&outbound) > 0) {
    int has_input = waiting(&inbound) > 0, has_output = waiting(&outbound) > 0;
    int has_room = outbound.end - outbound.start < sizeof outbound.bytes;
    struct pollfd files[] = {
        {.fd = may_begin && !has_input ? inbound.from : -1, .events = POLLIN},
        {.fd = has_input ? inbound.to : -1, .events = POLLOUT},
        {.fd = has_room ? outbound.from : -1, .events = POLLIN},
        {.fd = outbound.to, .events = has_output ? POLLOUT : 0},
        {.fd = gateway, .events = POLLIN},
    };
    int ready = poll(files, 5, idle_ms);
    if (ready == 0) return IDLE;
    if (ready < 0) continue;
    if (files[4].revents) {
      const char *sentence = hear(gateway, &may_begin);
      if (sentence != NULL) return sentence;
    }
    // A client that only stops sending closes half of the socket, which sets neither flag.
    if (files[3].revents & (POLLHUP | POLLERR)) return "";
    if (files[0].revents) fill(&inbound);
    // Git's response to a push ends with a flush packet of four bytes that the client waits for.
    if (is_push && inbound.total > 0) outbound.held = 4;
    if (waiting(&inbound) > 0 && !drain(&inbound)) shut(&inbound.to);
    if (files[2].revents) fill(&outbound);
    if (waiting(&outbound) > 0 && !drain(&outbound)) return "";
    if (inbound.from < 0 && waiting(&inbound) == 0) shut(&inbound.to);
    if (inbound.to < 0) inbound.start = inbound.end;
  }
  return NULL;
}

static void unblock(int file) { fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK); }

static int flush_end(void) {
  outbound.held = 0;
  while (waiting(&outbound) > 0) {
    struct pollfd file = {.fd = outbound.to, .events = POLLOUT};
    if (poll(&file, 1, ANSWER_S * 1000) <= 0 || !drain(&outbound)) return 0;
  }
  return 1;
}

// Waits in the gateway's queue. False if the client disconnects or the wait is too long.
static int await_turn(int gateway) {
  struct pollfd files[] = {{.fd = gateway, .events = POLLIN}, {.fd = 1, .events = 0}};
  for (;;) {
    int ready = poll(files, 2, TURN_S * 1000);
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && !(files[1].revents & (POLLHUP | POLLERR));
  }
}

// Runs git as the gateway's message says. Its fields: "run", "push" or "fetch", idle seconds,
// folder, program, number of arguments, arguments, environment.
static int run_git(int gateway) {
  char **fields = answer.fields;
  int is_push = strcmp(fields[1], "push") == 0, idle_ms = atoi(fields[2]) * 1000;
  unsigned words = (unsigned)atoi(fields[5]);
  if (words == 0 || 6 + words > answer.count) return say(AWAY);
  // The program's path precedes the arguments; NULL separates them from the environment.
  char *command[FIELDS_MAX + 2] = {fields[4]};
  memcpy(command + 1, fields + 6, words * sizeof *fields);
  pid_t git = start_git(command, fields + 6 + words, fields[3]);
  if (git < 0) return say(AWAY);
  signal(SIGPIPE, SIG_IGN);
  for (int file = 0; file < 2; file += 1) unblock(file);
  unblock(inbound.to);
  unblock(outbound.from);
  char number[24], received[24], sent[24];
  snprintf(number, sizeof number, "%d", (int)git);
  const char *sentence = AWAY;
  // The gateway records the pusher before the client may send data.
  if (!is_push || tell(gateway, "started", number, NULL)) {
    sentence = relay(gateway, is_push, idle_ms);
  }
  int status = 0, is_cut = sentence != NULL;
  // Printed now, because the next message overwrites the buffer of the sentence.
  if (is_cut && *sentence != '\0') say(sentence);
  if (is_cut) end_git(git);
  else if (waitpid(git, &status, 0) == git) kill(-git, SIGTERM);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  snprintf(number, sizeof number, "%d", code);
  snprintf(received, sizeof received, "%" PRIu64, inbound.total);
  snprintf(sent, sizeof sent, "%" PRIu64, outbound.total);
  int is_heard = tell(gateway, is_cut ? "cut" : "ended", number, received, sent, NULL);
  if (is_cut) return 1;
  if (!is_push) return code;
  // The gateway may flush a whole repository to the disk before it answers.
  answer_ms = KEEP_S * 1000;
  if (!is_heard || !receive(gateway) || !is_answer("done", 1)) return say(LOST);
  return flush_end() ? code : 1;
}

// ---------------------------------------------------------------------------- talk

// Reads bytes from the client as a message. The buffer must be empty.
static void wrap(struct flow *flow) {
  ssize_t got = read(flow->from, flow->bytes + HEAD_BYTES, sizeof flow->bytes - HEAD_BYTES);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) shut(&flow->from);
  size_t length = got > 0 ? (size_t)got : 0;
  write_head(flow->bytes, length);
  flow->start = 0;
  flow->end = HEAD_BYTES + length;
}

// Reads a part of a message from the gateway; the buffer must be empty. `coming` is the number of
// bytes left of the message. Returns 1, 0 at the end of the stream, or -1 if the gateway
// disconnected.
static int unwrap(struct flow *flow, size_t *coming) {
  if (*coming == 0 && !receive_length(flow->from, coming)) return -1;
  if (*coming == 0) return 0;
  size_t room = *coming < sizeof flow->bytes ? *coming : sizeof flow->bytes;
  ssize_t got = read(flow->from, flow->bytes, room);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
  if (got <= 0) return -1;
  *coming -= (size_t)got;
  flow->start = 0;
  flow->end = (size_t)got;
  return 1;
}

// Relays between client and gateway. The gateway's last message has an exit code and a sentence.
static int talk(int gateway) {
  int idle_ms = atoi(answer.fields[1]) * 1000;
  size_t coming = 0;
  inbound.to = outbound.from = gateway;
  signal(SIGPIPE, SIG_IGN);
  for (int file = 0; file < 2; file += 1) unblock(file);
  unblock(gateway);
  for (;;) {
    int has_input = waiting(&inbound) > 0, has_output = waiting(&outbound) > 0;
    short events = (short)((has_input ? POLLOUT : 0) | (has_output ? 0 : POLLIN));
    struct pollfd files[] = {
        {.fd = has_input ? -1 : inbound.from, .events = POLLIN},
        {.fd = events ? gateway : -1, .events = events},
        {.fd = 1, .events = has_output ? POLLOUT : 0},
    };
    int ready = poll(files, 3, idle_ms);
    if (ready == 0) return say(IDLE);
    if (ready < 0) continue;
    if (files[2].revents & (POLLHUP | POLLERR)) return 1;
    if (files[0].revents) wrap(&inbound);
    if (has_input && files[1].revents && !drain(&inbound)) return say(LOST);
    int heard = !has_output && files[1].revents & ~POLLOUT ? unwrap(&outbound, &coming) : 1;
    if (heard < 0) return say(LOST);
    if (heard == 0) break;
    if (waiting(&outbound) > 0 && !drain(&outbound)) return 1;
  }
  if (!receive(gateway) || !is_answer("end", 3)) return say(LOST);
  if (answer.fields[2][0] != '\0') say(answer.fields[2]);
  return atoi(answer.fields[1]);
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "" : value;
}

static int serve(const char *path, const char *key) {
  char command[WORD_BYTES_MAX + 1], protocol[WORD_BYTES_MAX + 1], address[WORD_BYTES_MAX + 1];
  snprintf(command, sizeof command, "%s", variable("SSH_ORIGINAL_COMMAND"));
  snprintf(protocol, sizeof protocol, "%s", variable("GIT_PROTOCOL"));
  snprintf(address, sizeof address, "%s", variable("SSH_CONNECTION"));
  address[strcspn(address, " ")] = '\0';
  int gateway = connect_gateway(path);
  if (gateway < 0) return say(AWAY);
  if (!tell(gateway, VERSION, "serve", key, command, protocol, address, NULL)) return say(AWAY);
  if (!await_turn(gateway) || !receive(gateway)) return say(AWAY);
  if (is_answer("run", 7)) return run_git(gateway);
  if (is_answer("talk", 2)) return talk(gateway);
  if (!is_answer("say", 3)) return say(AWAY);
  say(answer.fields[2]);
  return atoi(answer.fields[1]);
}

int main(int count, char **words) {
  if (count == 5 && strcmp(words[1], "keys") == 0) return print_key(words);
  if (count == 4 && strcmp(words[1], "serve") == 0) return serve(words[2], words[3]);
  if (count == 2 && strcmp(words[1], "away") == 0) return say(AWAY);
  say("usage: gatehouse-ssh keys SOCKET TYPE KEY | serve SOCKET FINGERPRINT | away");
  return 2;
}
