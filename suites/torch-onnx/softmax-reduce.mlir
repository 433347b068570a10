// onnx.Softmax, onnx.ArgMax and onnx.Sigmoid.
// Numbers: NumPy in float64. rtol 2e-5, atol 1e-6: exp and a sum in f32.
// The ONNX part is a function of !torch.vtensor values with an opset version; the check converts tensors to and from them.
//
// Written by suites/generate.py from suites/generator/torch_onnx.py; change it there.

func.func private @softmax_graph(%in0: !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.Softmax"(%in0) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  return %out : !torch.vtensor<[6,7],f32>
}

func.func @softmax() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %result = call @softmax_graph(%t0) : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,7],f32> -> tensor<6x7xf32>
  check.expect_almost_eq_const(%out, dense<
      [[2.9998855e-05, 0.004452225, 0.66076875, 0.0016378821, 0.24308325, 0.0006025431, 0.08942533],
       [0.00031195817, 0.046298698, 0.000114762996, 0.017032338, 4.2218948e-05, 0.006265847, 0.9299342],
       [0.0044513717, 0.66064215, 0.0016375682, 0.24303667, 0.00060242764, 0.0894082, 0.00022162075],
       [0.013116618, 3.2512846e-05, 0.004825334, 0.7161431, 0.0017751411, 0.26345432, 0.0006530379],
       [0.642373, 0.0015922835, 0.23631583, 0.0005857684, 0.086935736, 0.00021549214, 0.03198187],
       [0.642373, 0.0015922835, 0.23631583, 0.0005857684, 0.086935736, 0.00021549214, 0.03198187]]> : tensor<6x7xf32>, atol 1.00e-06, rtol 2.00e-05) : tensor<6x7xf32>
  return
}

func.func private @argmax_graph(%in0: !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6],si64> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.ArgMax"(%in0) {torch.onnx.axis = 1 : si64, torch.onnx.keepdims = 0 : si64} : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6],si64>
  return %out : !torch.vtensor<[6],si64>
}

func.func @argmax() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %result = call @argmax_graph(%t0) : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6],si64>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6],si64> -> tensor<6xi64>
  check.expect_eq_const(%out, dense<[2, 6, 1, 3, 0, 0]> : tensor<6xi64>) : tensor<6xi64>
  return
}

func.func private @sigmoid_graph(%in0: !torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %out = torch.operator "onnx.Sigmoid"(%in0)  : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  return %out : !torch.vtensor<[6,7],f32>
}

func.func @sigmoid() attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"} {
  %x0 = util.unfoldable_constant dense<
        [[-5.0, 0.0, 5.0, -1.0, 4.0, -2.0, 3.0],
         [-3.0, 2.0, -4.0, 1.0, -5.0, 0.0, 5.0],
         [-1.0, 4.0, -2.0, 3.0, -3.0, 2.0, -4.0],
         [1.0, -5.0, 0.0, 5.0, -1.0, 4.0, -2.0],
         [3.0, -3.0, 2.0, -4.0, 1.0, -5.0, 0.0],
         [5.0, -1.0, 4.0, -2.0, 3.0, -3.0, 2.0]]> : tensor<6x7xf32>
  %t0 = torch_c.from_builtin_tensor %x0 : tensor<6x7xf32> -> !torch.vtensor<[6,7],f32>
  %result = call @sigmoid_graph(%t0) : (!torch.vtensor<[6,7],f32>) -> !torch.vtensor<[6,7],f32>
  %out = torch_c.to_builtin_tensor %result : !torch.vtensor<[6,7],f32> -> tensor<6x7xf32>
  check.expect_almost_eq_const(%out, dense<
      [[0.006692851, 0.5, 0.9933072, 0.26894143, 0.98201376, 0.11920292, 0.95257413],
       [0.047425874, 0.8807971, 0.01798621, 0.7310586, 0.006692851, 0.5, 0.9933072],
       [0.26894143, 0.98201376, 0.11920292, 0.95257413, 0.047425874, 0.8807971, 0.01798621],
       [0.7310586, 0.006692851, 0.5, 0.9933072, 0.26894143, 0.98201376, 0.11920292],
       [0.95257413, 0.047425874, 0.8807971, 0.01798621, 0.7310586, 0.006692851, 0.5],
       [0.9933072, 0.26894143, 0.98201376, 0.11920292, 0.95257413, 0.047425874, 0.8807971]]> : tensor<6x7xf32>, atol 1.00e-06, rtol 2.00e-05) : tensor<6x7xf32>
  return
}
