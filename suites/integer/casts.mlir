// Conversions: sign and zero extension, truncation, integer to float and back with both signs.
// Numbers: NumPy's astype between the same types; floats are whole numbers in range.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @extsi() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 127, -128, 85, -86, 64]> : tensor<8xi8>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi8>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i8, %unused: i32):
            %r = arith.extsi %a : i8 to i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 1, -1, 127, -128, 85, -86, 64]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @extui() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 127, -128, 85, -86, 64]> : tensor<8xi8>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi8>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: i8, %unused: i32):
            %r = arith.extui %a : i8 to i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 1, 255, 127, 128, 85, 170, 64]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @trunci_i8() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 127, -128, 300, -300, 65535]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi8>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi32>) outs(%empty : tensor<8xi8>) {
          ^bb0(%a: i32, %unused: i8):
            %r = arith.trunci %a : i32 to i8
            linalg.yield %r : i8
          } -> tensor<8xi8>
  check.expect_eq_const(%out, dense<[0, 1, -1, 127, -128, 44, -44, -1]> : tensor<8xi8>) : tensor<8xi8>
  return
}

func.func @trunci_i16() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 127, -128, 300, -300, 65535]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xi16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi32>) outs(%empty : tensor<8xi16>) {
          ^bb0(%a: i32, %unused: i16):
            %r = arith.trunci %a : i32 to i16
            linalg.yield %r : i16
          } -> tensor<8xi16>
  check.expect_eq_const(%out, dense<[0, 1, -1, 127, -128, 300, -300, -1]> : tensor<8xi16>) : tensor<8xi16>
  return
}

func.func @sitofp() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 127, -128, 300, -300, 65535]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi32>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: i32, %unused: f32):
            %r = arith.sitofp %a : i32 to f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_eq_const(%out, dense<[0.0, 1.0, -1.0, 127.0, -128.0, 300.0, -300.0, 65535.0]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @uitofp() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 127, -128, 85, -86, 64]> : tensor<8xi8>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi8>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: i8, %unused: f32):
            %r = arith.uitofp %a : i8 to f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_eq_const(%out, dense<[0.0, 1.0, 255.0, 127.0, 128.0, 85.0, 170.0, 64.0]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @fptosi() {
  %x = util.unfoldable_constant dense<[0.0, 1.0, -1.0, 127.0, -128.0, 1.6777216e+07]> : tensor<6xf32>
          %empty = tensor.empty() : tensor<6xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<6xf32>) outs(%empty : tensor<6xi32>) {
          ^bb0(%a: f32, %unused: i32):
            %r = arith.fptosi %a : f32 to i32
            linalg.yield %r : i32
          } -> tensor<6xi32>
  check.expect_eq_const(%out, dense<[0, 1, -1, 127, -128, 16777216]> : tensor<6xi32>) : tensor<6xi32>
  return
}

func.func @fptoui() {
  %x = util.unfoldable_constant dense<[0.0, 1.0, 1.0, 127.0, 128.0, 1.6777216e+07]> : tensor<6xf32>
          %empty = tensor.empty() : tensor<6xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<6xf32>) outs(%empty : tensor<6xi32>) {
          ^bb0(%a: f32, %unused: i32):
            %r = arith.fptoui %a : f32 to i32
            linalg.yield %r : i32
          } -> tensor<6xi32>
  check.expect_eq_const(%out, dense<[0, 1, 1, 127, 128, 16777216]> : tensor<6xi32>) : tensor<6xi32>
  return
}
