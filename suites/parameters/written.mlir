// What a program writes into a parameter, the whole and ranges of it, and reads again; and a variable that starts with a
// parameter's value. No file changes. Numbers: moved, and added to small integers.

util.global private mutable @state = #flow.parameter.named<"model"::"state"> : tensor<3xf32>

func.func @counted(%x: tensor<3xf32>) -> tensor<3xf32> {
  %state = util.global.load @state : tensor<3xf32>
  %next = arith.addf %state, %x : tensor<3xf32>
  util.global.store %next, @state : tensor<3xf32>
  return %next : tensor<3xf32>
}

// The parameter begins with 10, 20, 30.
util.func public @ranges(%x: !hal.buffer_view) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c4_i64 = arith.constant 4 : i64
  %c0_i64 = arith.constant 0 : i64
  %scope = util.buffer.constant : !util.buffer = "model"
  %key = util.buffer.constant : !util.buffer = "state"
  %span = stream.tensor.import %x : !hal.buffer_view -> tensor<4xf32> in !stream.resource<external>{%c16}
  // The parameter: 10 a b, where x begins with a and b.
  %t1 = stream.cmd.parameter.write %span[%c0 for %c8] : !stream.resource<external>{%c16} -> %scope::%key[%c4_i64] => !stream.timepoint
  // x: a b 10 a.
  %t2 = stream.cmd.parameter.read await(%t1) => %scope::%key[%c0_i64] -> %span[%c8 for %c8] : !stream.resource<external>{%c16} => !stream.timepoint
  // The parameter: 10 10 a.
  %t3 = stream.cmd.parameter.scatter await(%t2) => {
    %span[%c8 for %c8] : !stream.resource<external>{%c16} -> %scope::%key[%c4_i64]
  } => !stream.timepoint
  // x: 10 a 10 10.
  %t4 = stream.cmd.parameter.gather await(%t3) => {
    %scope::%key[%c4_i64] -> %span[%c0 for %c8] : !stream.resource<external>{%c16},
    %scope::%key[%c0_i64] -> %span[%c8 for %c8] : !stream.resource<external>{%c16}
  } => !stream.timepoint
  %done = stream.timepoint.await %t4 => %span : !stream.resource<external>{%c16}
  %result = stream.tensor.export %done : tensor<4xf32> in !stream.resource<external>{%c16} -> !hal.buffer_view
  util.return %result : !hal.buffer_view
}
