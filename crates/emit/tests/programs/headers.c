/* Much of the C library at once: its inline functions, macros and renamed symbols. */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static jmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg) { pthread_mutex_lock(&lock); ++*(int *)arg; pthread_mutex_unlock(&lock); return arg; }
static void catch(int signal) { (void)signal; }
int main(void) {
  int parsed, n = 0;
  char word[16];
  sscanf("12 abc", "%d %15s", &parsed, word);
  printf("%d %s %d %ld\n", parsed, word, atoi("34"), strtol("77", NULL, 8));
  pthread_t thread;
  pthread_create(&thread, NULL, work, &n);
  pthread_join(thread, NULL);
  if (!setjmp(back)) longjmp(back, 1);
  struct sigaction action = { .sa_handler = catch };
  sigaction(SIGUSR1, &action, NULL);
  struct stat info;
  struct tm date = { .tm_year = 70, .tm_mday = 1 };
  printf("%d %d %d\n", n, stat("/", &info) == 0 && S_ISDIR(info.st_mode), mktime(&date) != (time_t)-1);
  printf("%" PRId64 " %d %d\n", (int64_t)1 << 40, toupper('x'), isdigit('5') != 0);
  fprintf(stdout, "%d %zu\n", (bool)5, strnlen("four", 9));
  struct sockaddr_storage storage;
  memset(&storage, 0, sizeof storage);
  printf("%d %ld\n", storage.ss_family, sysconf(_SC_CHAR_BIT));
  return EXIT_SUCCESS;
}
