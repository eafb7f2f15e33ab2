/* NVIDIA's compiler without a GPU, for tests: makes of kernels a library for the host, with the words of
   `emulated/cuda.h` of crate emit, and of what is to be linked an object. What it gives out for assembly is the path of
   that in the first line, and the names in it. Files stay in the folder that ON_HOST names;
   HOST_FLAGS are further words for the compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct program {
  char *text, *made;
};

int nvrtcVersion(int *major, int *minor) { return *major = 12, *minor = 4, 0; }
int nvrtcCreateProgram(struct program **program, const char *text, const char *name, int count, char **headers, char **names) {
  *program = calloc(1, sizeof **program);
  return (*program)->text = strdup(text), 0;
}
int nvrtcDestroyProgram(struct program **program) { return free((*program)->text), free((*program)->made), free(*program), 0; }

/* A function `run_…` for each kernel, which has its arguments as words; and how many threads a block has at most. */
static void starters(FILE *file, const char *text) {
  static const char head[] = "__global__ void __launch_bounds__(";
  for (const char *at = text; (at = strstr(at, head)); at++) {
    const char *name = strchr(at + sizeof head, ')') + 2, *open = strchr(name, '('), *close = strchr(open, '\n');
    fprintf(file, "extern \"C\" const int most_%.*s = %d;\n", (int)(open - name), name, atoi(at + sizeof head - 1));
    fprintf(file, "extern \"C\" void run_%.*s(unsigned blocks, unsigned threads, const unsigned long *w)\n"
                  "{ launch(blocks, threads, [=] { %.*s(", (int)(open - name), name, (int)(open - name), name);
    int count = open[1] != ')' && strncmp(open, "(void)", 6);
    for (const char *it = open; it < close; it++) count += *it == ',';
    for (int i = 0; i < count; i++) fprintf(file, "%s{ w[%d] }", i ? ", " : "", i);
    fprintf(file, "); }); }\n");
  }
}

int nvrtcCompileProgram(struct program *program, int count, const char **options) {
  const char *folder = getenv("ON_HOST"), *flags = getenv("HOST_FLAGS");
  char here[] = __FILE__, stem[4000], *line, *path;
  int is_linked = 0;
  for (int i = 0; i < count; i++) is_linked |= !strcmp(options[i], "-D__FERRY_LINKED");
  snprintf(stem, sizeof stem, "%s/kernels.XXXXXX", folder ? folder : "/tmp");
  int made = mkstemp(stem);
  if (made < 0) return 1;
  close(made);
  asprintf(&path, "%s.cpp", stem);
  FILE *file = fopen(path, "w");
  *strrchr(here, '/') = 0;
  fprintf(file, "%s#include \"%s/../../../emit/tests/emulated/cuda.h\"\nnamespace kernels {\n#line 1 \"%s.cu\"\n%s\n",
          is_linked ? "#define __FERRY_LINKED\n" : "", here, stem, program->text);
  starters(file, program->text);
  fputs("}\n", file);
  fclose(file);
  asprintf(&line, "g++ -std=c++20 -O0 -w -fPIC -ffp-contract=off %s %s -o %s %s 2>%s.log", flags ? flags : "",
           is_linked ? "-c" : "-shared", stem, path, stem);
  int code = system(line) ? 6 : 0;
  free(line), asprintf(&line, "nm %s", stem);
  size_t room = 0;
  FILE *made_of = open_memstream(&program->made, &room), *names = popen(line, "r");
  fprintf(made_of, "// on the host: %s\n.version 8.0\n.target sm_70\n", stem);
  for (int at; (at = getc(names)) != EOF;) putc(at, made_of);
  pclose(names), fclose(made_of);
  return free(line), free(path), code;
}

static int copied(const char *from, char *to) { return memcpy(to, from, strlen(from) + 1), 0; }
int nvrtcGetPTXSize(struct program *program, size_t *size) { return *size = strlen(program->made) + 1, 0; }
int nvrtcGetPTX(struct program *program, char *to) { return copied(program->made, to); }
int nvrtcGetCUBINSize(struct program *program, size_t *size) { return nvrtcGetPTXSize(program, size); }
int nvrtcGetCUBIN(struct program *program, char *to) { return copied(program->made, to); }
int nvrtcGetProgramLogSize(struct program *program, size_t *size) { return *size = 32, 0; }
int nvrtcGetProgramLog(struct program *program, char *to) { return copied("the host's compiler refused it", to); }
