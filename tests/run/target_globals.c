/* Variables of the file that functions on the device use, with and without a map. */
#include <omp.h>
#include <stdio.h>

int counter = 5;
static double table[16];
static int *data;
static const char *names[] = { "zero", "one", "two" };
int plain;

static void count(int by) { counter += by; }

static double look(int i) { return table[i] * 2; }

static int through(int i) { return data[i]; }

static int initial(int i) { return names[i][0]; }

static int deeper(int i) { return through(i) + 1; }

static int shadowed(int plain_too)
{
  int on_device = 0, counter = 1000; /* another `counter` */
#pragma omp target map(tofrom: on_device, counter)
  {
    count(plain_too);
    counter++;
    on_device = !omp_is_initial_device();
  }
  return on_device && counter == 1001;
}

int main(void)
{
  int wrong = 0;
  for (int i = 0; i < 16; i++)
    table[i] = i;
  /* Mapped, and used by name in a function: one object. */
#pragma omp target map(tofrom: counter)
  {
    counter *= 2;
    count(1);
    counter *= 2;
  }
  wrong += counter != 22;
  /* Only the functions name them. */
  double sum = 0;
#pragma omp target map(tofrom: sum)
  for (int i = 0; i < 16; i++)
    sum += look(i);
  wrong += sum != 240;
#pragma omp target
  count(20);
  wrong += counter != 42;
  /* A part that is mapped lies where the function looks for it. */
  table[3] = 100;
  sum = 0;
#pragma omp target enter data map(to: table[2:4])
#pragma omp target map(tofrom: sum)
  sum = look(3);
#pragma omp target exit data map(delete: table[2:4])
  wrong += sum != 200;
  /* A pointer leads to what is on the device. */
  int numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got = 0, first = 0;
  data = numbers;
#pragma omp target data map(to: numbers)
#pragma omp target map(from: got)
  got = deeper(6);
  wrong += got != 8;
#pragma omp target map(from: first)
  first = initial(2);
  wrong += first != 't';
  wrong += !shadowed(8) || counter != 50;
  if (wrong)
    printf("%d wrong: counter %d sum %g got %d\n", wrong, counter, sum, got);
  return wrong != 0;
}
