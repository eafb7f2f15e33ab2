! Parallel regions of kernels: several threads, each iteration once, a barrier behind each worksharing loop.
program parallel_regions
  use omp_lib
  implicit none
  integer, parameter :: n = 20000
  integer :: a(n), b(n), owner(n)
  integer :: i, round, faults, threads, serial, most, least
  faults = 0
  do round = 1, 20
    a = 0
    b = 0
    owner = -1
    threads = 0
    serial = 0
    !$omp target map(tofrom: a, b, owner, threads)
    !$omp parallel num_threads(4)
    !$omp do
    do i = 1, n
      a(i) = a(i) + i
      owner(i) = omp_get_thread_num()
    end do
    !$omp end do
    !$omp do
    do i = 1, n
      b(i) = b(i) + a(n + 1 - i)
    end do
    !$omp end do
    !$omp single
    threads = omp_get_num_threads()
    !$omp end single
    !$omp end parallel
    !$omp end target
    most = 0
    least = n
    do i = 1, n
      if (a(i) /= i .or. b(i) /= n + 1 - i) faults = faults + 1
      most = max(most, owner(i))
      least = min(least, owner(i))
    end do
    if (threads < 2 .or. most /= threads - 1 .or. least /= 0) faults = faults + 1
  end do
  ! No thread but one where none is asked for, and none below the first of another count.
  !$omp target parallel num_threads(1) map(tofrom: serial)
  serial = serial + omp_get_num_threads()
  !$omp end target parallel
  if (serial /= 1) faults = faults + 1
  !$omp target map(tofrom: serial)
  if (omp_is_initial_device()) serial = 7
  !$omp end target
  if (serial /= 1) faults = faults + 1
  if (faults == 0) then
    print '(a)', 'right'
  else
    print '(a, i0)', 'wrong: ', faults
    stop 1
  end if
end program
