// Parameters of narrow types, without a scope, widened. Numbers: small integers, and what 16 bits hold exactly.

util.global private @i8 = #flow.parameter.named<"i8"> : tensor<7xi8>
util.global private @i32 = #flow.parameter.named<"i32"> : tensor<7xi32>
util.global private @f16 = #flow.parameter.named<"f16"> : tensor<7xf16>
util.global private @bf16 = #flow.parameter.named<"bf16"> : tensor<7xbf16>

func.func @integers() -> tensor<7xi32> {
  %i8 = util.global.load @i8 : tensor<7xi8>
  %i32 = util.global.load @i32 : tensor<7xi32>
  %wide = arith.extsi %i8 : tensor<7xi8> to tensor<7xi32>
  %sum = arith.addi %wide, %i32 : tensor<7xi32>
  return %sum : tensor<7xi32>
}

func.func @floats() -> tensor<7xf32> {
  %f16 = util.global.load @f16 : tensor<7xf16>
  %bf16 = util.global.load @bf16 : tensor<7xbf16>
  %first = arith.extf %f16 : tensor<7xf16> to tensor<7xf32>
  %second = arith.extf %bf16 : tensor<7xbf16> to tensor<7xf32>
  %sum = arith.addf %first, %second : tensor<7xf32>
  return %sum : tensor<7xf32>
}
