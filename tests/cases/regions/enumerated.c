// run: check
// Loops do not count with an enumeration, nor with `_Bool`, in either standard.
enum level { LOW, MIDDLE, HIGH, LEVELS };

int sum(const int *of)
{
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (enum level i = LOW; i < LEVELS; i++) sum += of[i];
#pragma omp target teams distribute parallel for map(to : of[0 : LEVELS]) reduction(+ : sum)
  for (enum level i = LOW; i < LEVELS; i++) sum += of[i];
#pragma acc parallel loop copyin(of[0 : LEVELS]) reduction(+ : sum)
  for (enum level i = LOW; i < LEVELS; i++) sum += of[i];
#pragma omp parallel for reduction(+ : sum)
  for (_Bool i = 0; i < 1; i++) sum += of[i];
#pragma omp parallel for reduction(+ : sum)
  for (int i = LOW; i < LEVELS; i++) sum += of[i];
  return sum;
}
