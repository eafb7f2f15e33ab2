// run: check
// run: check --json
// run: check --sarif
int total;

int add(int amount) {
    totl = total + amount;
    return total
}

double scale(struct point *p) { return p->x * factor; }
