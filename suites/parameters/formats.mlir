// (x * matrix + bias) * scale + halves: a parameter of an .irpa, of a .safetensors and of a .gguf file, and one value
// that an .irpa file repeats. Numbers: small integers and halves, worked out by hand.

util.global private @matrix = #flow.parameter.named<"irpa"::"matrix"> : tensor<5x3xf32>
util.global private @halves = #flow.parameter.named<"irpa"::"halves"> : tensor<3xf32>
util.global private @bias = #flow.parameter.named<"safetensors"::"bias"> : tensor<3xf32>
util.global private @scale = #flow.parameter.named<"gguf"::"scale"> : tensor<3xf32>

func.func @formats(%x: tensor<5xf32>) -> tensor<3xf32> {
  %matrix = util.global.load @matrix : tensor<5x3xf32>
  %halves = util.global.load @halves : tensor<3xf32>
  %bias = util.global.load @bias : tensor<3xf32>
  %scale = util.global.load @scale : tensor<3xf32>
  %product = linalg.vecmat ins(%x, %matrix : tensor<5xf32>, tensor<5x3xf32>) outs(%bias : tensor<3xf32>) -> tensor<3xf32>
  %scaled = arith.mulf %product, %scale : tensor<3xf32>
  %sum = arith.addf %scaled, %halves : tensor<3xf32>
  return %sum : tensor<3xf32>
}
