// Calls within an executable, of functions that are not to be inlined: a chain of two, called from two places.
// Numbers by hand: x = [-3, -1, 0, 4]; 2 * x + 1 = [-5, -1, 1, 9]; (2 * x + 1) + (2 * (x + 1) + 1) = 4 * x + 4 = [-8, 0, 4, 20].

#same = affine_map<(i) -> (i)>

flow.executable private @kernels {
  flow.executable.export public @both workgroups(%n: index) -> (index, index, index) {
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice(%n)
    flow.return %x, %y, %z : index, index, index
  }
  builtin.module {
    func.func private @twice(%x: i32) -> i32 attributes {no_inline} {
      %y = arith.addi %x, %x : i32
      return %y : i32
    }
    func.func private @twice_and_one(%x: i32) -> i32 attributes {no_inline} {
      %one = arith.constant 1 : i32
      %double = func.call @twice(%x) : (i32) -> i32
      %y = arith.addi %double, %one : i32
      return %y : i32
    }
    func.func @both(%in: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xi32>>, %n: index,
        %out: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xi32>>) {
      %one = arith.constant 1 : i32
      %x = iree_tensor_ext.dispatch.tensor.load %in, offsets = [0], sizes = [4], strides = [1]
        : !iree_tensor_ext.dispatch.tensor<readonly:tensor<4xi32>> -> tensor<4xi32>
      %room = tensor.empty() : tensor<4xi32>
      %r = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
          ins(%x : tensor<4xi32>) outs(%room : tensor<4xi32>) {
      ^bb0(%a: i32, %unused: i32):
        %b = arith.addi %a, %one : i32
        %c = func.call @twice_and_one(%a) : (i32) -> i32
        %d = func.call @twice_and_one(%b) : (i32) -> i32
        %e = arith.addi %c, %d : i32
        linalg.yield %e : i32
      } -> tensor<4xi32>
      iree_tensor_ext.dispatch.tensor.store %r, %out, offsets = [0], sizes = [4], strides = [1]
        : tensor<4xi32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<4xi32>>
      return
    }
  }
}

util.func public @calls_in_kernels() {
  %n = arith.constant 4 : index
  %x = util.unfoldable_constant dense<[-3, -1, 0, 4]> : tensor<4xi32>
  %r = flow.dispatch @kernels::@both[%n](%x, %n) : (tensor<4xi32>, index) -> tensor<4xi32>
  check.expect_eq_const(%r, dense<[-8, 0, 4, 20]> : tensor<4xi32>) : tensor<4xi32>
  util.return
}
