// A product of matrices, stored into a padded tensor: the rows begin at the second element, as those of a 1x1 convolution
// before a 3x3 one do. SPIR-V accesses the padded rows of 98 by vectors; none begins at an odd element.
// Numbers: row y, column x of the input is 96 * y + x in each of 8 channels, so that the product with ones is 8 times that.

#input = affine_map<(c, y, x, k) -> (k, y, x)>
#weights = affine_map<(c, y, x, k) -> (c, k)>
#result = affine_map<(c, y, x, k) -> (c, y, x)>
#all = affine_map<(c, y, x) -> (c, y, x)>

func.func @product_into_padding() {
  %zero = arith.constant 0.0 : f32
  %eight = arith.constant 8.0 : f32
  %one = arith.constant 1 : index
  %width = arith.constant 96 : index
  %height = arith.constant 2 : index
  %weights = util.unfoldable_constant dense<1.0> : tensor<32x8xf32>
  %image = tensor.empty() : tensor<8x2x96xf32>
  %made = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%image : tensor<8x2x96xf32>) {
  ^bb0(%unused: f32):
    %y = linalg.index 1 : index
    %x = linalg.index 2 : index
    %row = arith.muli %y, %width : index
    %at = arith.addi %row, %x : index
    %integer = arith.index_cast %at : index to i32
    %number = arith.sitofp %integer : i32 to f32
    linalg.yield %number : f32
  } -> tensor<8x2x96xf32>
  %input = util.optimization_barrier %made : tensor<8x2x96xf32>
  %room = tensor.empty() : tensor<32x2x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<32x2x96xf32>) -> tensor<32x2x96xf32>
  %product = linalg.generic {indexing_maps = [#input, #weights, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%input, %weights : tensor<8x2x96xf32>, tensor<32x8xf32>) outs(%init : tensor<32x2x96xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x2x96xf32>
  %padded = tensor.pad %product low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%c: index, %y: index, %x: index):
    tensor.yield %zero : f32
  } : tensor<32x2x96xf32> to tensor<32x4x98xf32>
  %found = util.optimization_barrier %padded : tensor<32x4x98xf32>
  %larger = tensor.empty() : tensor<32x4x98xf32>
  %expected = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel", "parallel"]} outs(%larger : tensor<32x4x98xf32>) {
  ^bb0(%unused: f32):
    %below = linalg.index 1 : index
    %right = linalg.index 2 : index
    %y = arith.subi %below, %one : index
    %x = arith.subi %right, %one : index
    %row = arith.muli %y, %width : index
    %at = arith.addi %row, %x : index
    %integer = arith.index_cast %at : index to i32
    %number = arith.sitofp %integer : i32 to f32
    %times = arith.mulf %number, %eight : f32
    %rows = arith.cmpi ult, %y, %height : index
    %columns = arith.cmpi ult, %x, %width : index
    %inner = arith.andi %rows, %columns : i1
    %value = arith.select %inner, %times, %zero : f32
    linalg.yield %value : f32
  } -> tensor<32x4x98xf32>
  check.expect_eq(%found, %expected) : tensor<32x4x98xf32>
  return
}
