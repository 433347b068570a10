// The program of iree-org/iree#17924: a product on device_a, one of the same sizes on device_b, and their sum on device_a.

func.func @sum(%a: tensor<37x61xf32>, %b: tensor<61x21xf32>, %c: tensor<37x61xf32>, %d: tensor<61x21xf32>)
    -> tensor<37x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x21xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x21xf32>) -> tensor<37x21xf32>
  %a0 = flow.tensor.transfer %a : tensor<37x61xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<61x21xf32> to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %b0 : tensor<37x61xf32>, tensor<61x21xf32>)
                     outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  %first = flow.tensor.transfer %p : tensor<37x21xf32> to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<37x61xf32> to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<61x21xf32> to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%c_b, %d_b : tensor<37x61xf32>, tensor<61x21xf32>)
                     outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  %second = flow.tensor.transfer %q : tensor<37x21xf32> to #hal.device.promise<@device_a>
  %sum = arith.addf %first, %second : tensor<37x21xf32>
  return %sum : tensor<37x21xf32>
}
