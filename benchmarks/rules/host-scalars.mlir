// Scalars that a program computes on the host, an op in each function: for the rules of host programs that no shipped
// module needs (benchmarks/every_rule.py).
func.func @arith_negf() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = arith.negf %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_absf() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.absf %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_ceil() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.ceil %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_floor() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.floor %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_round() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.round %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_roundeven() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.roundeven %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_trunc() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.trunc %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_sqrt() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.sqrt %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_rsqrt() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.rsqrt %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_exp() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.exp %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_exp2() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.exp2 %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_expm1() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.expm1 %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_log() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.log %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_log2() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.log2 %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_log10() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.log10 %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_log1p() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.log1p %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_sin() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.sin %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_cos() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.cos %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_tan() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.tan %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_asin() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.asin %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_acos() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.acos %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_atan() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.atan %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_sinh() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.sinh %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_cosh() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.cosh %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_tanh() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.tanh %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_erf() {
  %a = util.unfoldable_constant 0.5 : f32
  %r = math.erf %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_divf() {
  %a = util.unfoldable_constant 7.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = arith.divf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_remf() {
  %a = util.unfoldable_constant 7.5 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = arith.remf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_minimumf() {
  %a = util.unfoldable_constant 7.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = arith.minimumf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_maximumf() {
  %a = util.unfoldable_constant 7.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = arith.maximumf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_minnumf() {
  %a = util.unfoldable_constant 7.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = arith.minnumf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_maxnumf() {
  %a = util.unfoldable_constant 7.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = arith.maxnumf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_powf() {
  %a = util.unfoldable_constant 2.0 : f32
  %b = util.unfoldable_constant 3.0 : f32
  %r = math.powf %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_atan2() {
  %a = util.unfoldable_constant 1.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = math.atan2 %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_copysign() {
  %a = util.unfoldable_constant 1.0 : f32
  %b = util.unfoldable_constant -2.0 : f32
  %r = math.copysign %a, %b : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_ceildivsi() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.ceildivsi %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_ceildivui() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.ceildivui %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_floordivsi() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.floordivsi %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_andi() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.andi %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_ori() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.ori %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_xori() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.xori %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_shli() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.shli %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_shrsi() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.shrsi %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_minsi() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.minsi %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_maxui() {
  %a = util.unfoldable_constant 7 : i32
  %b = util.unfoldable_constant 2 : i32
  %r = arith.maxui %a, %b : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_absi() {
  %a = util.unfoldable_constant 7 : i32
  %r = math.absi %a : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_ctpop() {
  %a = util.unfoldable_constant 7 : i32
  %r = math.ctpop %a : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_ctlz() {
  %a = util.unfoldable_constant 7 : i32
  %r = math.ctlz %a : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_cttz() {
  %a = util.unfoldable_constant 7 : i32
  %r = math.cttz %a : i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_extsi() {
  %a = util.unfoldable_constant 7 : i16
  %r = arith.extsi %a : i16 to i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_sitofp() {
  %a = util.unfoldable_constant 7 : i32
  %r = arith.sitofp %a : i32 to f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_uitofp() {
  %a = util.unfoldable_constant 7 : i32
  %r = arith.uitofp %a : i32 to f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_fptosi() {
  %a = util.unfoldable_constant 7.0 : f32
  %r = arith.fptosi %a : f32 to i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_fptoui() {
  %a = util.unfoldable_constant 7.0 : f32
  %r = arith.fptoui %a : f32 to i32
  %big = arith.constant 100 : i32
  %ok = arith.cmpi slt, %r, %big : i32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @arith_extf() {
  %a = util.unfoldable_constant 7.0 : f16
  %r = arith.extf %a : f16 to f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
func.func @math_fma() {
  %a = util.unfoldable_constant 1.0 : f32
  %b = util.unfoldable_constant 2.0 : f32
  %r = math.fma %a, %b, %a : f32
  %big = arith.constant 100.0 : f32
  %ok = arith.cmpf olt, %r, %big : f32
  %i = arith.extui %ok : i1 to i32
  check.expect_true(%i) : i32
  return
}
