// A product on device_a is the left operand on device_b, and that product an operand on device_a again: it crosses twice,
// and is encoded anew in the layout of the device that it reaches.

func.func @chain(%a: tensor<13x29xf32>, %b: tensor<29x11xf32>, %c: tensor<11x7xf32>, %d: tensor<7x5xf32>) -> tensor<13x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty_first = tensor.empty() : tensor<13x11xf32>
  %start_first = linalg.fill ins(%zero : f32) outs(%empty_first : tensor<13x11xf32>) -> tensor<13x11xf32>
  %first = linalg.matmul ins(%a, %b : tensor<13x29xf32>, tensor<29x11xf32>)
                         outs(%start_first : tensor<13x11xf32>) -> tensor<13x11xf32>
  %first_b = flow.tensor.transfer %first : tensor<13x11xf32> to #hal.device.promise<@device_b>
  %c_b = flow.tensor.transfer %c : tensor<11x7xf32> to #hal.device.promise<@device_b>
  %empty_second = tensor.empty() : tensor<13x7xf32>
  %start_second = linalg.fill ins(%zero : f32) outs(%empty_second : tensor<13x7xf32>) -> tensor<13x7xf32>
  %second = linalg.matmul ins(%first_b, %c_b : tensor<13x11xf32>, tensor<11x7xf32>)
                          outs(%start_second : tensor<13x7xf32>) -> tensor<13x7xf32>
  %second_a = flow.tensor.transfer %second : tensor<13x7xf32> to #hal.device.promise<@device_a>
  %empty_third = tensor.empty() : tensor<13x5xf32>
  %start_third = linalg.fill ins(%zero : f32) outs(%empty_third : tensor<13x5xf32>) -> tensor<13x5xf32>
  %third = linalg.matmul ins(%second_a, %d : tensor<13x7xf32>, tensor<7x5xf32>)
                         outs(%start_third : tensor<13x5xf32>) -> tensor<13x5xf32>
  return %third : tensor<13x5xf32>
}
