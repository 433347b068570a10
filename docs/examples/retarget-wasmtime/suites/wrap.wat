;; 32-bit addition wraps around: 2147483647 + 1 is -2147483648, so the sum with 2147483647 and 1 is 0.
(module
  (func (export "add_wraps") (result i32)
    i32.const 2147483647
    i32.const 1
    i32.add
    i32.const 2147483647
    i32.add
    i32.const 1
    i32.add))
