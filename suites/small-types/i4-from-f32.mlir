// Two tensors of f32 as i4, an operation on them, and the result as f32.
// Numbers: NumPy's int64, wrapped around to 4 bits; exact.

func.func @quotient() {
  %x = util.unfoldable_constant dense<[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
  %y = util.unfoldable_constant dense<[3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0]> : tensor<16xf32>
  %a = arith.fptosi %x : tensor<16xf32> to tensor<16xi4>
  %b = arith.fptosi %y : tensor<16xf32> to tensor<16xi4>
  %c = arith.divsi %a, %b : tensor<16xi4>
  %r = arith.sitofp %c : tensor<16xi4> to tensor<16xf32>
  check.expect_eq_const(%r, dense<[-2.0, -3.0, -6.0, -1.0, -2.0, -3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 3.0, 1.0, 2.0, 6.0, 2.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @remainder() {
  %x = util.unfoldable_constant dense<[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
  %y = util.unfoldable_constant dense<[3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0]> : tensor<16xf32>
  %a = arith.fptosi %x : tensor<16xf32> to tensor<16xi4>
  %b = arith.fptosi %y : tensor<16xf32> to tensor<16xi4>
  %c = arith.remsi %a, %b : tensor<16xi4>
  %r = arith.sitofp %c : tensor<16xi4> to tensor<16xf32>
  check.expect_eq_const(%r, dense<[-2.0, -1.0, 0.0, -2.0, 0.0, 0.0, -2.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @right_shift() {
  %x = util.unfoldable_constant dense<[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
  %y = util.unfoldable_constant dense<[3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0]> : tensor<16xf32>
  %a = arith.fptosi %x : tensor<16xf32> to tensor<16xi4>
  %b = arith.fptosi %y : tensor<16xf32> to tensor<16xi4>
  %c = arith.shrsi %a, %b : tensor<16xi4>
  %r = arith.sitofp %c : tensor<16xi4> to tensor<16xf32>
  check.expect_eq_const(%r, dense<[-1.0, -2.0, -3.0, -1.0, -1.0, -2.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 3.0, 0.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @left_shift() {
  %x = util.unfoldable_constant dense<[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
  %y = util.unfoldable_constant dense<[3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0]> : tensor<16xf32>
  %a = arith.fptosi %x : tensor<16xf32> to tensor<16xi4>
  %b = arith.fptosi %y : tensor<16xf32> to tensor<16xi4>
  %c = arith.shli %a, %b : tensor<16xi4>
  %r = arith.sitofp %c : tensor<16xi4> to tensor<16xf32>
  check.expect_eq_const(%r, dense<[0.0, 4.0, 4.0, -8.0, 0.0, -6.0, 0.0, -4.0, 0.0, -8.0, -8.0, 6.0, 0.0, 4.0, -4.0, -8.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @sums_of_columns() {
  %x = util.unfoldable_constant dense<[[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [5.0, 6.0, 7.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]]> : tensor<3x16xf32>
  %zero = arith.constant 0 : i4
  %room = tensor.empty() : tensor<16xi4>
  %init = linalg.fill ins(%zero : i4) outs(%room : tensor<16xi4>) -> tensor<16xi4>
  %a = arith.fptosi %x : tensor<3x16xf32> to tensor<3x16xi4>
  %s = linalg.reduce { arith.addi } ins(%a : tensor<3x16xi4>) outs(%init : tensor<16xi4>) dimensions = [0]
  %r = arith.sitofp %s : tensor<16xi4> to tensor<16xf32>
  check.expect_eq_const(%r, dense<[5.0, -8.0, -5.0, -2.0, 1.0, 4.0, 7.0, -6.0, -3.0, 0.0, 3.0, 6.0, -7.0, -4.0, -1.0, 2.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}
