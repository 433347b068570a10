// iree_linalg_ext.sort of integers and of floats, up and down, along rows, and keys that carry values with them.
// Numbers: NumPy's sort and argsort; all keys differ.
//
// Written by suites/generate.py from suites/generator/linalg_ext.py; change it there.

func.func @up() {
  %x_data = util.unfoldable_constant dense<
      [11, 38, 24, 10, 37, 23, 9, 36, 22, 8, 35, 21, 7, 34, 20, 6, 33, 19, 5, 32, 18, 4, 31, 17, 3, 30, 16, 2, 29,
       15, 1, 28, 14, 0, 27, 13, 40, 26, 12, 39]> : tensor<40xi32>
        %x_zeros = util.unfoldable_constant dense<0> : tensor<40xi32>
        %x = arith.addi %x_data, %x_zeros : tensor<40xi32>
          %out = iree_linalg_ext.sort dimension(0) outs(%x : tensor<40xi32>) {
          ^bb0(%a: i32, %b: i32):
            %first = arith.cmpi slt, %a, %b : i32
            iree_linalg_ext.yield %first : i1
          } -> tensor<40xi32>
  check.expect_eq_const(%out, dense<
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29,
       30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]> : tensor<40xi32>) : tensor<40xi32>
  return
}

func.func @down() {
  %x_data = util.unfoldable_constant dense<
      [11.0, 38.0, 24.0, 10.0, 37.0, 23.0, 9.0, 36.0, 22.0, 8.0, 35.0, 21.0, 7.0, 34.0, 20.0, 6.0, 33.0, 19.0, 5.0,
       32.0, 18.0, 4.0, 31.0, 17.0, 3.0, 30.0, 16.0, 2.0, 29.0, 15.0, 1.0, 28.0, 14.0, 0.0, 27.0, 13.0, 40.0, 26.0,
       12.0, 39.0]> : tensor<40xf32>
        %x_zeros = util.unfoldable_constant dense<0.0> : tensor<40xf32>
        %x = arith.addf %x_data, %x_zeros : tensor<40xf32>
          %out = iree_linalg_ext.sort dimension(0) outs(%x : tensor<40xf32>) {
          ^bb0(%a: f32, %b: f32):
            %first = arith.cmpf ogt, %a, %b : f32
            iree_linalg_ext.yield %first : i1
          } -> tensor<40xf32>
  check.expect_eq_const(%out, dense<
      [40.0, 39.0, 38.0, 37.0, 36.0, 35.0, 34.0, 33.0, 32.0, 31.0, 30.0, 29.0, 28.0, 27.0, 26.0, 24.0, 23.0, 22.0,
       21.0, 20.0, 19.0, 18.0, 17.0, 16.0, 15.0, 14.0, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0,
       2.0, 1.0, 0.0]> : tensor<40xf32>) : tensor<40xf32>
  return
}

func.func @along_rows() {
  %x_data = util.unfoldable_constant dense<
      [[11, 38, 24, 10, 37, 23, 9, 36],
       [22, 8, 35, 21, 7, 34, 20, 6],
       [33, 19, 5, 32, 18, 4, 31, 17],
       [3, 30, 16, 2, 29, 15, 1, 28],
       [14, 0, 27, 13, 40, 26, 12, 39]]> : tensor<5x8xi32>
        %x_zeros = util.unfoldable_constant dense<0> : tensor<5x8xi32>
        %x = arith.addi %x_data, %x_zeros : tensor<5x8xi32>
          %out = iree_linalg_ext.sort dimension(1) outs(%x : tensor<5x8xi32>) {
          ^bb0(%a: i32, %b: i32):
            %first = arith.cmpi slt, %a, %b : i32
            iree_linalg_ext.yield %first : i1
          } -> tensor<5x8xi32>
  check.expect_eq_const(%out, dense<
      [[9, 10, 11, 23, 24, 36, 37, 38],
       [6, 7, 8, 20, 21, 22, 34, 35],
       [4, 5, 17, 18, 19, 31, 32, 33],
       [1, 2, 3, 15, 16, 28, 29, 30],
       [0, 12, 13, 14, 26, 27, 39, 40]]> : tensor<5x8xi32>) : tensor<5x8xi32>
  return
}

func.func @keys_with_values() {
  %k_data = util.unfoldable_constant dense<
      [11, 38, 24, 10, 37, 23, 9, 36, 22, 8, 35, 21, 7, 34, 20, 6, 33, 19, 5, 32, 18, 4, 31, 17, 3, 30, 16, 2, 29,
       15, 1, 28, 14, 0, 27, 13, 40, 26, 12, 39]> : tensor<40xi32>
        %k_zeros = util.unfoldable_constant dense<0> : tensor<40xi32>
        %k = arith.addi %k_data, %k_zeros : tensor<40xi32>
  %v_data = util.unfoldable_constant dense<
      [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230,
       240, 250, 260, 270, 280, 290, 300, 310, 320, 330, 340, 350, 360, 370, 380, 390]> : tensor<40xi32>
        %v_zeros = util.unfoldable_constant dense<0> : tensor<40xi32>
        %v = arith.addi %v_data, %v_zeros : tensor<40xi32>
  %out:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<40xi32>, tensor<40xi32>) {
  ^bb0(%a: i32, %b: i32, %va: i32, %vb: i32):
    %first = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %first : i1
  } -> tensor<40xi32>, tensor<40xi32>
  check.expect_eq_const(%out#0, dense<
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29,
       30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]> : tensor<40xi32>) : tensor<40xi32>
  check.expect_eq_const(%out#1, dense<
      [330, 300, 270, 240, 210, 180, 150, 120, 90, 60, 30, 0, 380, 350, 320, 290, 260, 230, 200, 170, 140, 110, 80,
       50, 20, 370, 340, 310, 280, 250, 220, 190, 160, 130, 100, 70, 40, 10, 390, 360]> : tensor<40xi32>) : tensor<40xi32>
  return
}
