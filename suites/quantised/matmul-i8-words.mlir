// linalg.matmul of i8 accumulated in i32, of sizes where SPIR-V code generation loads 8 elements as words of 32 bits.
// Numbers: NumPy's matmul in int64, exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),
// which are exact in the element type: one wrong element shows in one of each.
// Written by suites/generate.py from suites/generator/quantised.py; change it there.

func.func private @a() -> tensor<64x64xi8> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<64x64xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<64x64xi8>) {
  ^bb0(%unused: i8):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<64x64xi8>
  %hidden = util.optimization_barrier %made : tensor<64x64xi8>
  return %hidden : tensor<64x64xi8>
}

func.func private @b() -> tensor<64x64xi8> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<64x64xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<64x64xi8>) {
  ^bb0(%unused: i8):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<64x64xi8>
  %hidden = util.optimization_barrier %made : tensor<64x64xi8>
  return %hidden : tensor<64x64xi8>
}

func.func private @weigh_rows_64x64xi32(%x: tensor<64x64xi32>) -> tensor<64xi32> {
  %zero = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<64xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<64xi32>) {
  ^bb0(%unused: i32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    linalg.yield %weight : i32
  } -> tensor<64xi32>
  %weights = util.optimization_barrier %made : tensor<64xi32>
  %empty = tensor.empty() : tensor<64xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<64xi32>) -> tensor<64xi32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<64x64xi32>, tensor<64xi32>) outs(%init : tensor<64xi32>) {
  ^bb0(%v: i32, %weight: i32, %sum: i32):
    %term = arith.muli %v, %weight : i32
    %next = arith.addi %sum, %term : i32
    linalg.yield %next : i32
  } -> tensor<64xi32>
  return %sums : tensor<64xi32>
}

func.func private @weigh_columns_64x64xi32(%x: tensor<64x64xi32>) -> tensor<64xi32> {
  %zero = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<64xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<64xi32>) {
  ^bb0(%unused: i32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    linalg.yield %weight : i32
  } -> tensor<64xi32>
  %weights = util.optimization_barrier %made : tensor<64xi32>
  %empty = tensor.empty() : tensor<64xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<64xi32>) -> tensor<64xi32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<64x64xi32>, tensor<64xi32>) outs(%init : tensor<64xi32>) {
  ^bb0(%v: i32, %weight: i32, %sum: i32):
    %term = arith.muli %v, %weight : i32
    %next = arith.addi %sum, %term : i32
    linalg.yield %next : i32
  } -> tensor<64xi32>
  return %sums : tensor<64xi32>
}

func.func @matmul_64x64x64() {
  %a = call @a() : () -> tensor<64x64xi8>
  %b = call @b() : () -> tensor<64x64xi8>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%init : tensor<64x64xi32>) -> tensor<64x64xi32>
  // 4096 elements: checked through weighted sums (see the comment at the top).
  %c_kept = util.optimization_barrier %c : tensor<64x64xi32>
  %c_rows = call @weigh_rows_64x64xi32(%c_kept) : (tensor<64x64xi32>) -> tensor<64xi32>
  check.expect_eq_const(%c_rows, dense<
      [1281943, 1570325, -111304, -605615, -2727573, 1481028, 1362728, -604601, 1997613, 2247794, 3001820, 884243,
       1974785, -846922, 2519362, 2580817, 539231, 1925891, 181665, 1355402, -2880576, -987548, 4496625, -792285,
       84708, 494929, 490335, 269467, 1079795, 2247133, 2944687, 2621261, -273823, 358986, -1192068, -1276692,
       -123547, 1887855, 4149090, -2443361, 4250459, 1822776, -1936123, 778858, 3360897, 684323, 1121241, 5174655,
       -260396, 1522397, 2894642, -1340365, 1072702, -1557988, 2066330, 980972, 1075151, 4828747, 822264, 2038426,
       2302382, -216160, -891521, 2254932]> : tensor<64xi32>) : tensor<64xi32>
  %c_columns = call @weigh_columns_64x64xi32(%c_kept) : (tensor<64x64xi32>) -> tensor<64xi32>
  check.expect_eq_const(%c_columns, dense<
      [12186, -479150, 223299, 2099704, 1595403, 2683726, 1448822, -615106, 3157498, 940769, 1700678, 1618762,
       1704041, 5337987, 1819215, 2758734, 540451, -1549793, 1170407, 2012403, 2989717, -538641, -557488, 1415128,
       1097398, -277013, -1410686, -1010720, -553497, -1545770, 563844, 898917, 256625, -94980, -3327785, 262874,
       -200088, 774456, 1167964, 394602, 1892066, 3530370, 2695098, 2286304, -2028272, 2041083, 2451640, 2027400,
       3588348, 2100177, 4028898, 2460465, 1394563, 2220477, -2799621, 2489884, 3379137, 3714211, -403928,
       -1351657, 409184, 1240099, -1164849, -900383]> : tensor<64xi32>) : tensor<64xi32>
  return
}
