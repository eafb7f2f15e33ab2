/*
 * nbody: the motion of n bodies under their own gravity, with every pair taken into account.
 *
 * A leapfrog step (drift, kick, drift) keeps the energy; the kick costs n * n and is what the
 * device is for. The bodies stay there for all steps (`data`), and the function that both
 * sides call is compiled for both (`routine`).
 *
 * Usage: nbody [bodies] [steps]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TIME_STEP 1e-3
#define SOFTENING 1e-2 /* keeps two bodies that nearly meet from flinging each other away */

typedef struct {
    double x, y, z;
} Vec3;

typedef struct {
    Vec3 position, velocity;
    double mass;
} Body;

/* Adds to `pull` what `other` does to a body at `here`; a body does nothing to itself. */
#pragma acc routine seq
static void add_pull(Vec3 *pull, Vec3 here, const Body *other)
{
    double dx = other->position.x - here.x;
    double dy = other->position.y - here.y;
    double dz = other->position.z - here.z;
    double r2 = dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING;
    double strength = other->mass / (r2 * sqrt(r2));
    pull->x += strength * dx;
    pull->y += strength * dy;
    pull->z += strength * dz;
}

/* Moves every body along its velocity for half a step. */
static void drift(int n, Body *bodies)
{
#pragma acc parallel loop present(bodies)
    for (int i = 0; i < n; i++) {
        Body *body = &bodies[i];
        body->position.x += 0.5 * TIME_STEP * body->velocity.x;
        body->position.y += 0.5 * TIME_STEP * body->velocity.y;
        body->position.z += 0.5 * TIME_STEP * body->velocity.z;
    }
}

/* Changes every velocity by what all bodies pull in a whole step; no position changes here. */
static void kick(int n, Body *bodies)
{
#pragma acc parallel loop present(bodies)
    for (int i = 0; i < n; i++) {
        Vec3 pull = {0.0, 0.0, 0.0};
#pragma acc loop seq
        for (int j = 0; j < n; j++)
            add_pull(&pull, bodies[i].position, &bodies[j]);
        bodies[i].velocity.x += TIME_STEP * pull.x;
        bodies[i].velocity.y += TIME_STEP * pull.y;
        bodies[i].velocity.z += TIME_STEP * pull.z;
    }
}

static void simulate(int n, int steps, Body *bodies)
{
#pragma acc data copy(bodies[0:n])
    for (int step = 0; step < steps; step++) {
        drift(n, bodies);
        kick(n, bodies);
        drift(n, bodies);
    }
}

static void simulate_serial(int n, int steps, Body *bodies)
{
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < n; i++) {
            bodies[i].position.x += 0.5 * TIME_STEP * bodies[i].velocity.x;
            bodies[i].position.y += 0.5 * TIME_STEP * bodies[i].velocity.y;
            bodies[i].position.z += 0.5 * TIME_STEP * bodies[i].velocity.z;
        }
        for (int i = 0; i < n; i++) {
            Vec3 pull = {0.0, 0.0, 0.0};
            for (int j = 0; j < n; j++)
                add_pull(&pull, bodies[i].position, &bodies[j]);
            bodies[i].velocity.x += TIME_STEP * pull.x;
            bodies[i].velocity.y += TIME_STEP * pull.y;
            bodies[i].velocity.z += TIME_STEP * pull.z;
        }
        for (int i = 0; i < n; i++) {
            bodies[i].position.x += 0.5 * TIME_STEP * bodies[i].velocity.x;
            bodies[i].position.y += 0.5 * TIME_STEP * bodies[i].velocity.y;
            bodies[i].position.z += 0.5 * TIME_STEP * bodies[i].velocity.z;
        }
    }
}

/* Bodies at rest in a cube of side 2: the same ones in every run and on every machine. */
static void scatter(int n, Body *bodies)
{
    unsigned state = 12345;
    for (int i = 0; i < n; i++) {
        double at[3];
        for (int axis = 0; axis < 3; axis++) {
            state = 1664525u * state + 1013904223u;
            at[axis] = 2.0 * (double)(state >> 8) / (1 << 24) - 1.0;
        }
        bodies[i] = (Body){.position = {at[0], at[1], at[2]}, .mass = 1.0 / n};
    }
}

static double energy(int n, const Body *bodies)
{
    double kinetic = 0.0, potential = 0.0;
    for (int i = 0; i < n; i++) {
        Vec3 v = bodies[i].velocity, here = bodies[i].position;
        kinetic += 0.5 * bodies[i].mass * (v.x * v.x + v.y * v.y + v.z * v.z);
        for (int j = 0; j < i; j++) {
            double dx = bodies[j].position.x - here.x;
            double dy = bodies[j].position.y - here.y;
            double dz = bodies[j].position.z - here.z;
            double r2 = dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING;
            potential -= bodies[i].mass * bodies[j].mass / sqrt(r2);
        }
    }
    return kinetic + potential;
}

/* Memory for `count` values; a program without memory has nothing to compute. */
static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "nbody: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Reads a positive size from the command line; anything else ends the program with status 2. */
static int size_argument(int argc, char **argv, int index, int fallback)
{
    if (index >= argc)
        return fallback;
    char *end;
    long value = strtol(argv[index], &end, 10);
    if (*end != '\0' || value < 2 || value > 100000) {
        fprintf(stderr, "nbody: `%s` is not a size between 2 and 100000\n", argv[index]);
        exit(2);
    }
    return (int)value;
}

/* The larger of two errors; not a number is worse than any number. */
static double worse(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 1000);
    int steps = size_argument(argc, argv, 2, 20);
    Body *bodies = allocate(n, sizeof *bodies);
    Body *expected = allocate(n, sizeof *expected);

    scatter(n, bodies);
    scatter(n, expected);
    double energy_before = energy(n, bodies);

    simulate(n, steps, bodies);
    simulate_serial(n, steps, expected);

    double error = 0.0;
    for (int i = 0; i < n; i++) {
        Vec3 a = bodies[i].position, b = expected[i].position;
        error = worse(error, fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z));
    }
    double drift = fabs(energy(n, bodies) / energy_before - 1.0);

    int ok = error <= 1e-9;
    printf("nbody: %s, %d bodies, %d steps, largest error %.2e, energy drift %.1e\n",
           ok ? "ok" : "FAILED", n, steps, error, drift);

    free(bodies);
    free(expected);
    return ok ? 0 : 1;
}
