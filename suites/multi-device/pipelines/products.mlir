// Products of different sizes on the two devices, each of which has its own executable.

func.func @products(%a: tensor<8x12xf32>, %b: tensor<12x6xf32>, %c: tensor<5x7xf32>, %d: tensor<7x9xf32>)
    -> (tensor<8x6xf32>, tensor<5x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty_a = tensor.empty() : tensor<8x6xf32>
  %start_a = linalg.fill ins(%zero : f32) outs(%empty_a : tensor<8x6xf32>) -> tensor<8x6xf32>
  %a0 = flow.tensor.transfer %a : tensor<8x12xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<12x6xf32> to #hal.device.promise<@device_a>
  %first = linalg.matmul ins(%a0, %b0 : tensor<8x12xf32>, tensor<12x6xf32>)
                         outs(%start_a : tensor<8x6xf32>) -> tensor<8x6xf32>
  %at_a = flow.tensor.transfer %first : tensor<8x6xf32> to #hal.device.promise<@device_a>
  %empty_b = tensor.empty() : tensor<5x9xf32>
  %start_b = linalg.fill ins(%zero : f32) outs(%empty_b : tensor<5x9xf32>) -> tensor<5x9xf32>
  %c_b = flow.tensor.transfer %c : tensor<5x7xf32> to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<7x9xf32> to #hal.device.promise<@device_b>
  %second = linalg.matmul ins(%c_b, %d_b : tensor<5x7xf32>, tensor<7x9xf32>)
                          outs(%start_b : tensor<5x9xf32>) -> tensor<5x9xf32>
  %at_b = flow.tensor.transfer %second : tensor<5x9xf32> to #hal.device.promise<@device_b>
  return %at_a, %at_b : tensor<8x6xf32>, tensor<5x9xf32>
}
