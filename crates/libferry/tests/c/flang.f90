! Host offload by flang, which LLVM's own library lacks two functions for.
program main
  integer :: values(100), total, i
  values = [(i - 1, i = 1, 100)]
  total = 0
  !$omp target map(to: values) map(tofrom: total)
  do i = 1, 100
    total = total + values(i)
  end do
  !$omp end target
  print *, total
end program
