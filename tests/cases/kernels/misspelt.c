// run: print --after workshar
// The passes are listed.
void nothing(void) {}
