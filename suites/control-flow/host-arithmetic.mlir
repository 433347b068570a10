// Scalar arithmetic that stays on the host (in the VM), checked with check.expect_true and check.expect_false.
// Numbers by hand, told at each function.

// 1000003 * 999 = 999002997, which fits i32; its quotient by 1000 is 999002 and its rest 997.
func.func @i32() {
  %a = util.unfoldable_constant 1000003 : i32
  %b = util.unfoldable_constant 999 : i32
  %thousand = util.unfoldable_constant 1000 : i32
  %product = arith.muli %a, %b : i32
  %quotient = arith.divui %product, %thousand : i32
  %rest = arith.remui %product, %thousand : i32
  %want_quotient = arith.constant 999002 : i32
  %want_rest = arith.constant 997 : i32
  %same_quotient = arith.cmpi eq, %quotient, %want_quotient : i32
  %same_rest = arith.cmpi eq, %rest, %want_rest : i32
  %yes = arith.extui %same_quotient : i1 to i32
  %also = arith.extui %same_rest : i1 to i32
  check.expect_true(%yes) : i32
  check.expect_true(%also) : i32
  return
}

// 4000000007 * 3 = 12000000021 needs more than 32 bits.
func.func @i64() {
  %a = util.unfoldable_constant 4000000007 : i64
  %b = util.unfoldable_constant 3 : i64
  %product = arith.muli %a, %b : i64
  %want = arith.constant 12000000021 : i64
  %same = arith.cmpi eq, %product, %want : i64
  %yes = arith.extui %same : i1 to i32
  check.expect_true(%yes) : i32
  return
}

// -7 / 2 = -3 and -7 mod 2 = -1, both towards zero; read as unsigned, -7 is far above 2.
func.func @signs() {
  %a = util.unfoldable_constant -7 : i32
  %b = util.unfoldable_constant 2 : i32
  %quotient = arith.divsi %a, %b : i32
  %rest = arith.remsi %a, %b : i32
  %below = arith.cmpi slt, %a, %b : i32
  %below_unsigned = arith.cmpi ult, %a, %b : i32
  %want_quotient = arith.constant -3 : i32
  %want_rest = arith.constant -1 : i32
  %same_quotient = arith.cmpi eq, %quotient, %want_quotient : i32
  %same_rest = arith.cmpi eq, %rest, %want_rest : i32
  %q = arith.extui %same_quotient : i1 to i32
  %r = arith.extui %same_rest : i1 to i32
  %s = arith.extui %below : i1 to i32
  %u = arith.extui %below_unsigned : i1 to i32
  check.expect_true(%q) : i32
  check.expect_true(%r) : i32
  check.expect_true(%s) : i32
  check.expect_false(%u) : i32
  return
}

// (0.5 + 0.25) * 8 - 1 = 5 exactly.
func.func @f32() {
  %a = util.unfoldable_constant 0.5 : f32
  %b = util.unfoldable_constant 0.25 : f32
  %c = util.unfoldable_constant 8.0 : f32
  %sum = arith.addf %a, %b : f32
  %product = arith.mulf %sum, %c : f32
  %one = arith.constant 1.0 : f32
  %five = arith.constant 5.0 : f32
  %result = arith.subf %product, %one : f32
  %same = arith.cmpf oeq, %result, %five : f32
  %yes = arith.extui %same : i1 to i32
  check.expect_true(%yes) : i32
  return
}
