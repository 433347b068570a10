// i1 packed 8 to a byte, with the encoding #iree_encoding.packed_storage.
// Numbers: NumPy's bitwise operations on bytes.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @exclusive_or() {
  %left = util.unfoldable_constant dense<[85, 15]> : tensor<2xi8>
          %right = util.unfoldable_constant dense<[51, -2]> : tensor<2xi8>
          %a = flow.tensor.bitcast %left : tensor<2xi8> -> tensor<16xi1, #iree_encoding.packed_storage>
          %b = flow.tensor.bitcast %right : tensor<2xi8> -> tensor<16xi1, #iree_encoding.packed_storage>
          %empty = tensor.empty() : tensor<16xi1, #iree_encoding.packed_storage>
          %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%a, %b : tensor<16xi1, #iree_encoding.packed_storage>, tensor<16xi1, #iree_encoding.packed_storage>) outs(%empty : tensor<16xi1, #iree_encoding.packed_storage>) {
          ^bb0(%x: i1, %y: i1, %unused: i1):
            %r = arith.xori %x, %y : i1
            linalg.yield %r : i1
          } -> tensor<16xi1, #iree_encoding.packed_storage>
          %out = flow.tensor.bitcast %c : tensor<16xi1, #iree_encoding.packed_storage> -> tensor<2xi8>
  check.expect_eq_const(%out, dense<[102, -15]> : tensor<2xi8>) : tensor<2xi8>
  return
}
