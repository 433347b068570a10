module {
  func.func @main(%arg0: !torch.vtensor<[48,32],f16>, %arg1: !torch.vtensor<[?,?],si64>, %arg2: !torch.vtensor<[?,?],f16>, %arg3: !torch.vtensor<[32],f16>, %arg4: !torch.vtensor<[32,32],f16>, %arg5: !torch.vtensor<[32,32],f16>, %arg6: !torch.vtensor<[32,32],f16>, %arg7: !torch.vtensor<[?,4,?,8],f16>, %arg8: !torch.vtensor<[?,4,?,8],f16>, %arg9: !torch.vtensor<[32,32],f16>, %arg10: !torch.vtensor<[32],f16>, %arg11: !torch.vtensor<[32,64],f16>, %arg12: !torch.vtensor<[64,32],f16>, %arg13: !torch.vtensor<[32],f16>, %arg14: !torch.vtensor<[32,32],f16>, %arg15: !torch.vtensor<[32,32],f16>, %arg16: !torch.vtensor<[32,32],f16>, %arg17: !torch.vtensor<[?,4,?,8],f16>, %arg18: !torch.vtensor<[?,4,?,8],f16>, %arg19: !torch.vtensor<[32,32],f16>, %arg20: !torch.vtensor<[32],f16>, %arg21: !torch.vtensor<[32,64],f16>, %arg22: !torch.vtensor<[64,32],f16>, %arg23: !torch.vtensor<[32],f16>) -> (!torch.vtensor<[?,?,48],f16>, !torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>) attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget", torch.onnx_meta.producer_version = ""} {
    %0 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c0> : tensor<f32>} : () -> !torch.vtensor<[],f32> 
    %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c1> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64> 
    %2 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c2> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64> 
    %3 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c3> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64> 
    %4 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c4> : tensor<f16>} : () -> !torch.vtensor<[],f16> 
    %5 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c5> : tensor<3xsi64>} : () -> !torch.vtensor<[3],si64> 
    %6 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c6> : tensor<f32>} : () -> !torch.vtensor<[],f32> 
    %7 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c7> : tensor<f32>} : () -> !torch.vtensor<[],f32> 
    %8 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c8> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64> 
    %9 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c9> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64> 
    %10 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c10> : tensor<4xsi64>} : () -> !torch.vtensor<[4],si64> 
    %11 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c11> : tensor<f16>} : () -> !torch.vtensor<[],f16> 
    %12 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c12> : tensor<3xsi64>} : () -> !torch.vtensor<[3],si64> 
    %13 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c13> : tensor<f32>} : () -> !torch.vtensor<[],f32> 
    %14 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<c14> : tensor<f32>} : () -> !torch.vtensor<[],f32> 
    %none = torch.constant.none
    %15 = torch.operator "onnx.Gather"(%arg0, %arg1) : (!torch.vtensor<[48,32],f16>, !torch.vtensor<[?,?],si64>) -> !torch.vtensor<[?,?,32],f16> 
    %16 = torch.operator "onnx.Cast"(%15) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f32> 
    %17 = torch.operator "onnx.Mul"(%16, %16) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %18 = torch.operator "onnx.ReduceMean"(%17) {torch.onnx.axes = [-1 : si64], torch.onnx.keepdims = 1 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %19 = torch.operator "onnx.Add"(%18, %0) : (!torch.vtensor<[?,?,1],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %20 = torch.operator "onnx.Sqrt"(%19) : (!torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %21 = torch.operator "onnx.Div"(%16, %20) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %22 = torch.operator "onnx.Cast"(%21) {torch.onnx.to = 10 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f16> 
    %23 = torch.operator "onnx.Mul"(%22, %arg3) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %24 = torch.operator "onnx.MatMul"(%23, %arg4) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %25 = torch.operator "onnx.Reshape"(%24, %1) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[?,?,4,8],f16> 
    %26 = torch.operator "onnx.Transpose"(%25) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,?,4,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %27 = torch.operator "onnx.MatMul"(%23, %arg5) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %28 = torch.operator "onnx.Reshape"(%27, %2) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[?,?,4,8],f16> 
    %29 = torch.operator "onnx.Transpose"(%28) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,?,4,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %30 = torch.operator "onnx.MatMul"(%23, %arg6) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %31 = torch.operator "onnx.Reshape"(%30, %3) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[?,?,4,8],f16> 
    %32 = torch.operator "onnx.Transpose"(%31) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,?,4,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %33 = torch.operator "onnx.Concat"(%arg7, %29) {torch.onnx.axis = 2 : si64} : (!torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %34 = torch.operator "onnx.Concat"(%arg8, %32) {torch.onnx.axis = 2 : si64} : (!torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %35 = torch.operator "onnx.Transpose"(%33) {torch.onnx.perm = [0 : si64, 1 : si64, 3 : si64, 2 : si64]} : (!torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,8,?],f16> 
    %36 = torch.operator "onnx.MatMul"(%26, %35) : (!torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,8,?],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %37 = torch.operator "onnx.Mul"(%36, %4) : (!torch.vtensor<[?,4,?,?],f16>, !torch.vtensor<[],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %38 = torch.operator "onnx.Add"(%37, %arg2) : (!torch.vtensor<[?,4,?,?],f16>, !torch.vtensor<[?,?],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %39 = torch.operator "onnx.Softmax"(%38) {torch.onnx.axis = -1 : si64} : (!torch.vtensor<[?,4,?,?],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %40 = torch.operator "onnx.MatMul"(%39, %34) : (!torch.vtensor<[?,4,?,?],f16>, !torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %41 = torch.operator "onnx.Transpose"(%40) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,?,4,8],f16> 
    %42 = torch.operator "onnx.Reshape"(%41, %5) : (!torch.vtensor<[?,?,4,8],f16>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[?,?,32],f16> 
    %43 = torch.operator "onnx.MatMul"(%42, %arg9) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %44 = torch.operator "onnx.Add"(%15, %43) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %45 = torch.operator "onnx.Cast"(%44) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f32> 
    %46 = torch.operator "onnx.Mul"(%45, %45) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %47 = torch.operator "onnx.ReduceMean"(%46) {torch.onnx.axes = [-1 : si64], torch.onnx.keepdims = 1 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %48 = torch.operator "onnx.Add"(%47, %6) : (!torch.vtensor<[?,?,1],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %49 = torch.operator "onnx.Sqrt"(%48) : (!torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %50 = torch.operator "onnx.Div"(%45, %49) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %51 = torch.operator "onnx.Cast"(%50) {torch.onnx.to = 10 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f16> 
    %52 = torch.operator "onnx.Mul"(%51, %arg10) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %53 = torch.operator "onnx.MatMul"(%52, %arg11) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,64],f16>) -> !torch.vtensor<[?,?,64],f16> 
    %54 = torch.operator "onnx.Sigmoid"(%53) : (!torch.vtensor<[?,?,64],f16>) -> !torch.vtensor<[?,?,64],f16> 
    %55 = torch.operator "onnx.Mul"(%53, %54) : (!torch.vtensor<[?,?,64],f16>, !torch.vtensor<[?,?,64],f16>) -> !torch.vtensor<[?,?,64],f16> 
    %56 = torch.operator "onnx.MatMul"(%55, %arg12) : (!torch.vtensor<[?,?,64],f16>, !torch.vtensor<[64,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %57 = torch.operator "onnx.Add"(%44, %56) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %58 = torch.operator "onnx.Cast"(%57) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f32> 
    %59 = torch.operator "onnx.Mul"(%58, %58) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %60 = torch.operator "onnx.ReduceMean"(%59) {torch.onnx.axes = [-1 : si64], torch.onnx.keepdims = 1 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %61 = torch.operator "onnx.Add"(%60, %7) : (!torch.vtensor<[?,?,1],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %62 = torch.operator "onnx.Sqrt"(%61) : (!torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %63 = torch.operator "onnx.Div"(%58, %62) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %64 = torch.operator "onnx.Cast"(%63) {torch.onnx.to = 10 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f16> 
    %65 = torch.operator "onnx.Mul"(%64, %arg13) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %66 = torch.operator "onnx.MatMul"(%65, %arg14) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %67 = torch.operator "onnx.Reshape"(%66, %8) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[?,?,4,8],f16> 
    %68 = torch.operator "onnx.Transpose"(%67) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,?,4,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %69 = torch.operator "onnx.MatMul"(%65, %arg15) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %70 = torch.operator "onnx.Reshape"(%69, %9) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[?,?,4,8],f16> 
    %71 = torch.operator "onnx.Transpose"(%70) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,?,4,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %72 = torch.operator "onnx.MatMul"(%65, %arg16) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %73 = torch.operator "onnx.Reshape"(%72, %10) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[?,?,4,8],f16> 
    %74 = torch.operator "onnx.Transpose"(%73) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,?,4,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %75 = torch.operator "onnx.Concat"(%arg17, %71) {torch.onnx.axis = 2 : si64} : (!torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %76 = torch.operator "onnx.Concat"(%arg18, %74) {torch.onnx.axis = 2 : si64} : (!torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %77 = torch.operator "onnx.Transpose"(%75) {torch.onnx.perm = [0 : si64, 1 : si64, 3 : si64, 2 : si64]} : (!torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,8,?],f16> 
    %78 = torch.operator "onnx.MatMul"(%68, %77) : (!torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,8,?],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %79 = torch.operator "onnx.Mul"(%78, %11) : (!torch.vtensor<[?,4,?,?],f16>, !torch.vtensor<[],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %80 = torch.operator "onnx.Add"(%79, %arg2) : (!torch.vtensor<[?,4,?,?],f16>, !torch.vtensor<[?,?],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %81 = torch.operator "onnx.Softmax"(%80) {torch.onnx.axis = -1 : si64} : (!torch.vtensor<[?,4,?,?],f16>) -> !torch.vtensor<[?,4,?,?],f16> 
    %82 = torch.operator "onnx.MatMul"(%81, %76) : (!torch.vtensor<[?,4,?,?],f16>, !torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,4,?,8],f16> 
    %83 = torch.operator "onnx.Transpose"(%82) {torch.onnx.perm = [0 : si64, 2 : si64, 1 : si64, 3 : si64]} : (!torch.vtensor<[?,4,?,8],f16>) -> !torch.vtensor<[?,?,4,8],f16> 
    %84 = torch.operator "onnx.Reshape"(%83, %12) : (!torch.vtensor<[?,?,4,8],f16>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[?,?,32],f16> 
    %85 = torch.operator "onnx.MatMul"(%84, %arg19) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %86 = torch.operator "onnx.Add"(%57, %85) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %87 = torch.operator "onnx.Cast"(%86) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f32> 
    %88 = torch.operator "onnx.Mul"(%87, %87) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %89 = torch.operator "onnx.ReduceMean"(%88) {torch.onnx.axes = [-1 : si64], torch.onnx.keepdims = 1 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %90 = torch.operator "onnx.Add"(%89, %13) : (!torch.vtensor<[?,?,1],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %91 = torch.operator "onnx.Sqrt"(%90) : (!torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %92 = torch.operator "onnx.Div"(%87, %91) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %93 = torch.operator "onnx.Cast"(%92) {torch.onnx.to = 10 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f16> 
    %94 = torch.operator "onnx.Mul"(%93, %arg20) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %95 = torch.operator "onnx.MatMul"(%94, %arg21) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,64],f16>) -> !torch.vtensor<[?,?,64],f16> 
    %96 = torch.operator "onnx.Sigmoid"(%95) : (!torch.vtensor<[?,?,64],f16>) -> !torch.vtensor<[?,?,64],f16> 
    %97 = torch.operator "onnx.Mul"(%95, %96) : (!torch.vtensor<[?,?,64],f16>, !torch.vtensor<[?,?,64],f16>) -> !torch.vtensor<[?,?,64],f16> 
    %98 = torch.operator "onnx.MatMul"(%97, %arg22) : (!torch.vtensor<[?,?,64],f16>, !torch.vtensor<[64,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %99 = torch.operator "onnx.Add"(%86, %98) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %100 = torch.operator "onnx.Cast"(%99) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[?,?,32],f16>) -> !torch.vtensor<[?,?,32],f32> 
    %101 = torch.operator "onnx.Mul"(%100, %100) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %102 = torch.operator "onnx.ReduceMean"(%101) {torch.onnx.axes = [-1 : si64], torch.onnx.keepdims = 1 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %103 = torch.operator "onnx.Add"(%102, %14) : (!torch.vtensor<[?,?,1],f32>, !torch.vtensor<[],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %104 = torch.operator "onnx.Sqrt"(%103) : (!torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,1],f32> 
    %105 = torch.operator "onnx.Div"(%100, %104) : (!torch.vtensor<[?,?,32],f32>, !torch.vtensor<[?,?,1],f32>) -> !torch.vtensor<[?,?,32],f32> 
    %106 = torch.operator "onnx.Cast"(%105) {torch.onnx.to = 10 : si64} : (!torch.vtensor<[?,?,32],f32>) -> !torch.vtensor<[?,?,32],f16> 
    %107 = torch.operator "onnx.Mul"(%106, %arg23) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32],f16>) -> !torch.vtensor<[?,?,32],f16> 
    %108 = torch.operator "onnx.Transpose"(%arg0) {torch.onnx.perm = [1 : si64, 0 : si64]} : (!torch.vtensor<[48,32],f16>) -> !torch.vtensor<[32,48],f16> 
    %109 = torch.operator "onnx.MatMul"(%107, %108) : (!torch.vtensor<[?,?,32],f16>, !torch.vtensor<[32,48],f16>) -> !torch.vtensor<[?,?,48],f16> 
    return %109, %33, %34, %75, %76 : !torch.vtensor<[?,?,48],f16>, !torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>, !torch.vtensor<[?,4,?,8],f16>
  }
}

{-#
  dialect_resources: {
    builtin: {
      c0: "0x08000000ACC52737",
      c1: "0x080000000000000000000000000000000000000004000000000000000800000000000000",
      c2: "0x080000000000000000000000000000000000000004000000000000000800000000000000",
      c3: "0x080000000000000000000000000000000000000004000000000000000800000000000000",
      c4: "0x08000000A835",
      c5: "0x08000000000000000000000000000000000000002000000000000000",
      c6: "0x08000000ACC52737",
      c7: "0x08000000ACC52737",
      c8: "0x080000000000000000000000000000000000000004000000000000000800000000000000",
      c9: "0x080000000000000000000000000000000000000004000000000000000800000000000000",
      c10: "0x080000000000000000000000000000000000000004000000000000000800000000000000",
      c11: "0x08000000A835",
      c12: "0x08000000000000000000000000000000000000002000000000000000",
      c13: "0x08000000ACC52737",
      c14: "0x08000000ACC52737"
    }
  }
#-}

