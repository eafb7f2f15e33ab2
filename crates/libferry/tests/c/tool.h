/* What a tool hands over, as the standard has it. */
struct tool {
    int (*initialize)(void *(*lookup)(const char *), int initial, uint64_t *data);
    void (*finalize)(uint64_t *data);
    uint64_t data;
};
extern int omp_control_tool(int, int, void *);
