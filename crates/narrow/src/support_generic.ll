; Copies between any addresses, by words where both sides and the length allow it; a lock; a check.

declare i8 @ferry.wide.load8(i64) #1
declare i32 @ferry.wide.load32(i64) #1
declare void @ferry.wide.store8(i64, i8) #2
declare void @ferry.wide.store32(i64, i32) #2

define void @ferry.generic.memcpy(i64 %to, i64 %from, i64 %len) #0 {
entry:
  %tf = or i64 %to, %from
  %all = or i64 %tf, %len
  %low = and i64 %all, 3
  %words = icmp eq i64 %low, 0
  %end = add i64 %from, %len
  br label %head
head:
  %src = phi i64 [ %from, %entry ], [ %srcw, %word ], [ %srcb, %byte ]
  %dst = phi i64 [ %to, %entry ], [ %dstw, %word ], [ %dstb, %byte ]
  %over = icmp eq i64 %src, %end
  br i1 %over, label %done, label %body
body:
  br i1 %words, label %word, label %byte
word:
  %w = call i32 @ferry.wide.load32(i64 %src)
  call void @ferry.wide.store32(i64 %dst, i32 %w)
  %srcw = add i64 %src, 4
  %dstw = add i64 %dst, 4
  br label %head
byte:
  %b = call i8 @ferry.wide.load8(i64 %src)
  call void @ferry.wide.store8(i64 %dst, i8 %b)
  %srcb = add i64 %src, 1
  %dstb = add i64 %dst, 1
  br label %head
done:
  ret void
}

define void @ferry.generic.memmove(i64 %to, i64 %from, i64 %len) #0 {
entry:
  %apart = sub i64 %to, %from
  %behind = icmp ult i64 %apart, %len
  br i1 %behind, label %down, label %up
up:
  call void @ferry.generic.memcpy(i64 %to, i64 %from, i64 %len)
  ret void
down:
  %left = phi i64 [ %len, %entry ], [ %next, %step ]
  %over = icmp eq i64 %left, 0
  br i1 %over, label %done, label %step
step:
  %next = sub i64 %left, 1
  %src = add i64 %from, %next
  %dst = add i64 %to, %next
  %b = call i8 @ferry.wide.load8(i64 %src)
  call void @ferry.wide.store8(i64 %dst, i8 %b)
  br label %down
done:
  ret void
}

define void @ferry.generic.memset(i64 %to, i8 %byte, i64 %len) #0 {
entry:
  %end = add i64 %to, %len
  br label %head
head:
  %dst = phi i64 [ %to, %entry ], [ %next, %body ]
  %over = icmp eq i64 %dst, %end
  br i1 %over, label %done, label %body
body:
  call void @ferry.wide.store8(i64 %dst, i8 %byte)
  %next = add i64 %dst, 1
  br label %head
done:
  ret void
}

@ferry.lock = internal global i32 0, align 4

define void @ferry_lock_host() #0 {
entry:
  br label %try
try:
  %was = atomicrmw xchg ptr @ferry.lock, i32 1 acquire
  %taken = icmp ne i32 %was, 0
  br i1 %taken, label %try, label %done
done:
  ret void
}

define void @ferry_unlock_host() #0 {
  fence release
  store atomic i32 0, ptr @ferry.lock monotonic, align 4
  ret void
}

define i32 @ferry.check(i64 %address) #0 {
  %above = lshr i64 %address, 32
  %lost = icmp ne i64 %above, 0
  br i1 %lost, label %stop, label %done
stop:
  call void asm sideeffect "ebreak", ""()
  unreachable
done:
  %low = trunc i64 %address to i32
  ret i32 %low
}

attributes #0 = { nounwind noinline "no-builtins" }
attributes #1 = { nounwind willreturn nofree nocallback nosync memory(read) }
attributes #2 = { nounwind willreturn nofree nocallback nosync memory(write) }
