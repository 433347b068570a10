// scf.while on the host: loops whose end depends on data, on scalars and on values read back from the device.
// Numbers by hand, told at each function.

// The Collatz sequence of 27 reaches 1 after 111 steps and climbs to 9232 on its way (a well-known example; checked with
// `n, steps, top = 27, 0, 27` and `n = n // 2 if n % 2 == 0 else 3 * n + 1` in Python).
func.func @collatz() {
  %start = util.unfoldable_constant 27 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %end:3 = scf.while (%n = %start, %steps = %c0, %top = %start) : (i32, i32, i32) -> (i32, i32, i32) {
    %more = arith.cmpi ne, %n, %c1 : i32
    scf.condition(%more) %n, %steps, %top : i32, i32, i32
  } do {
  ^bb0(%n: i32, %steps: i32, %top: i32):
    %rest = arith.remui %n, %c2 : i32
    %even = arith.cmpi eq, %rest, %c0 : i32
    %half = arith.divui %n, %c2 : i32
    %tripled = arith.muli %n, %c3 : i32
    %odd_next = arith.addi %tripled, %c1 : i32
    %next = arith.select %even, %half, %odd_next : i32
    %count = arith.addi %steps, %c1 : i32
    %highest = arith.maxsi %top, %next : i32
    scf.yield %next, %count, %highest : i32, i32, i32
  }
  %out = tensor.from_elements %end#0, %end#1, %end#2 : tensor<3xi32>
  check.expect_eq_const(%out, dense<[1, 111, 9232]> : tensor<3xi32>) : tensor<3xi32>
  return
}

// [1, 3] is doubled on the device until its sum 4 * 2^n is at least 100: n = 5, [32, 96].
func.func @until_the_device_says_so() {
  %x = util.unfoldable_constant dense<[1.0, 3.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant 100.0 : f32
  %end = scf.while (%value = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    %empty = tensor.empty() : tensor<f32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
    %total = linalg.reduce { arith.addf } ins(%value : tensor<2xf32>) outs(%init : tensor<f32>) dimensions = [0]
    %sum = tensor.extract %total[] : tensor<f32>
    %more = arith.cmpf olt, %sum, %limit : f32
    scf.condition(%more) %value : tensor<2xf32>
  } do {
  ^bb0(%value: tensor<2xf32>):
    %next = arith.addf %value, %value : tensor<2xf32>
    scf.yield %next : tensor<2xf32>
  }
  check.expect_eq_const(%end, dense<[32.0, 96.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

// The condition is false at once: the body never runs.
func.func @body_never_runs() {
  %start = util.unfoldable_constant 5 : i32
  %limit = util.unfoldable_constant 5 : i32
  %end = scf.while (%n = %start) : (i32) -> i32 {
    %more = arith.cmpi slt, %n, %limit : i32
    scf.condition(%more) %n : i32
  } do {
  ^bb0(%n: i32):
    %next = arith.addi %n, %n : i32
    scf.yield %next : i32
  }
  %out = tensor.from_elements %end : tensor<1xi32>
  check.expect_eq_const(%out, dense<[5]> : tensor<1xi32>) : tensor<1xi32>
  return
}

// Euclid: gcd(1071, 462) = gcd(462, 147) = gcd(147, 21) = gcd(21, 0) = 21.
func.func @greatest_common_divisor() {
  %a = util.unfoldable_constant 1071 : i32
  %b = util.unfoldable_constant 462 : i32
  %c0 = arith.constant 0 : i32
  %end:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %y, %c0 : i32
    scf.condition(%more) %x, %y : i32, i32
  } do {
  ^bb0(%x: i32, %y: i32):
    %rest = arith.remui %x, %y : i32
    scf.yield %y, %rest : i32, i32
  }
  %out = tensor.from_elements %end#0 : tensor<1xi32>
  check.expect_eq_const(%out, dense<[21]> : tensor<1xi32>) : tensor<1xi32>
  return
}
