; What every program brings along: copies in the accelerator's own data model, under the names that LLVM's code calls;
; copies between any addresses and a lock, for programs without a runtime that has them.

define weak ptr @memcpy(ptr %to, ptr %from, i32 %len) #0 {
entry:
  %t = ptrtoint ptr %to to i32
  %f = ptrtoint ptr %from to i32
  %tf = or i32 %t, %f
  %all = or i32 %tf, %len
  %low = and i32 %all, 3
  %words = icmp eq i32 %low, 0
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %word ], [ %nextb, %byte ]
  %more = icmp ult i32 %i, %len
  br i1 %more, label %body, label %done
body:
  %src = getelementptr i8, ptr %from, i32 %i
  %dst = getelementptr i8, ptr %to, i32 %i
  br i1 %words, label %word, label %byte
word:
  %w = load i32, ptr %src, align 4
  store i32 %w, ptr %dst, align 4
  %next = add i32 %i, 4
  br label %head
byte:
  %b = load i8, ptr %src, align 1
  store i8 %b, ptr %dst, align 1
  %nextb = add i32 %i, 1
  br label %head
done:
  ret ptr %to
}

define weak ptr @memmove(ptr %to, ptr %from, i32 %len) #0 {
entry:
  %t = ptrtoint ptr %to to i32
  %f = ptrtoint ptr %from to i32
  %apart = sub i32 %t, %f
  %behind = icmp ult i32 %apart, %len
  br i1 %behind, label %down, label %up
up:
  %copied = call ptr @memcpy(ptr %to, ptr %from, i32 %len)
  ret ptr %to
down:
  %i = phi i32 [ %len, %entry ], [ %next, %step ]
  %over = icmp eq i32 %i, 0
  br i1 %over, label %done, label %step
step:
  %next = sub i32 %i, 1
  %src = getelementptr i8, ptr %from, i32 %next
  %dst = getelementptr i8, ptr %to, i32 %next
  %b = load i8, ptr %src, align 1
  store i8 %b, ptr %dst, align 1
  br label %down
done:
  ret ptr %to
}

define weak ptr @memset(ptr %to, i32 %value, i32 %len) #0 {
entry:
  %byte = trunc i32 %value to i8
  %zero = and i32 %value, 255
  %fill = mul i32 %zero, 16843009
  %t = ptrtoint ptr %to to i32
  %all = or i32 %t, %len
  %low = and i32 %all, 3
  %words = icmp eq i32 %low, 0
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %word ], [ %nextb, %bytes ]
  %more = icmp ult i32 %i, %len
  br i1 %more, label %body, label %done
body:
  %dst = getelementptr i8, ptr %to, i32 %i
  br i1 %words, label %word, label %bytes
word:
  store i32 %fill, ptr %dst, align 4
  %next = add i32 %i, 4
  br label %head
bytes:
  store i8 %byte, ptr %dst, align 1
  %nextb = add i32 %i, 1
  br label %head
done:
  ret ptr %to
}

attributes #0 = { nounwind noinline "no-builtins" }
