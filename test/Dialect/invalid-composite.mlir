// RUN: echo-opt %s -split-input-file -verify-diagnostics

// (C1) of softmax
func.func @softmax_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.softmax' op expected axis in [0, 2), found 2}}
  %0 = echo.softmax %a {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of softmax
func.func @softmax_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.softmax' op expected result 0 of type 'tensor<2x3xf32>', found 'tensor<2xf32>'}}
  %0 = echo.softmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of log_softmax
func.func @log_softmax_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.log_softmax' op expected axis in [0, 2), found 2}}
  %0 = echo.log_softmax %a {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of log_softmax
func.func @log_softmax_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.log_softmax' op expected result 0 of type 'tensor<2x3xf32>', found 'tensor<2xf32>'}}
  %0 = echo.log_softmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of layer_norm
func.func @layer_norm_rank(%x: tensor<f32>, %s: tensor<f32>, %o: tensor<f32>) {
  // expected-error @+1 {{'echo.layer_norm' op expected operand of rank at least 1, found 0}}
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_scale(%x: tensor<2x8xf32>, %s: tensor<7xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'echo.layer_norm' op expected scale with shape [8], found [7]}}
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<2x8xf32>, tensor<7xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_offset(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %o: tensor<1x8xf32>) {
  // expected-error @+1 {{'echo.layer_norm' op expected offset with shape [8], found [1, 8]}}
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<2x8xf32>, tensor<8xf32>, tensor<1x8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

// (C2) of layer_norm
func.func @layer_norm_element_type(%x: tensor<2x8xf32>, %s: tensor<8xf16>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'echo.layer_norm' op expected scale with element type 'f32', found 'f16'}}
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<2x8xf32>, tensor<8xf16>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_offset_type(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %o: tensor<8xf16>) {
  // expected-error @+1 {{'echo.layer_norm' op expected offset with element type 'f32', found 'f16'}}
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf16>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

func.func @layer_norm_result(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'echo.layer_norm' op expected result 0 of type 'tensor<2x8xf32>', found 'tensor<2x7xf32>'}}
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x7xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

// (C3) of layer_norm
func.func @layer_norm_epsilon(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %o: tensor<8xf32>) {
  // expected-error @+1 {{'echo.layer_norm' op expected epsilon greater than 0, found 0.0}}
  %0:3 = echo.layer_norm %x, %s, %o {epsilon = 0.0 : f64} : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----

// (C1) of embedding
func.func @embedding_table(%t: tensor<8xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{'echo.embedding' op expected table of rank 2, found 1}}
  %0 = echo.embedding %t, %i : (tensor<8xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

// (C2) of embedding
func.func @embedding_result(%t: tensor<5x8xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{'echo.embedding' op expected result 0 of type 'tensor<2x8xf32>', found 'tensor<2x5xf32>'}}
  %0 = echo.embedding %t, %i : (tensor<5x8xf32>, tensor<2xi32>) -> tensor<2x5xf32>
  return
}

// -----

// (C1) of embedding_grad
func.func @embedding_grad_shape(%i: tensor<2xi32>, %g: tensor<3x8xf32>) {
  // expected-error @+1 {{'echo.embedding_grad' op expected gradient with shape [2, 8], found [3, 8]}}
  %0 = echo.embedding_grad %i, %g {rows = 5 : i64} : (tensor<2xi32>, tensor<3x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @embedding_grad_rank(%i: tensor<i32>, %g: tensor<f32>) {
  // expected-error @+1 {{'echo.embedding_grad' op expected gradient with shape [?], found []}}
  %0 = echo.embedding_grad %i, %g {rows = 5 : i64} : (tensor<i32>, tensor<f32>) -> tensor<5x8xf32>
  return
}

// -----

// (C2) of embedding_grad
func.func @embedding_grad_rows(%i: tensor<2xi32>, %g: tensor<2x8xf32>) {
  // expected-error @+1 {{'echo.embedding_grad' op expected rows of at least 0, found -1}}
  %0 = echo.embedding_grad %i, %g {rows = -1 : i64} : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @embedding_grad_result(%i: tensor<2xi32>, %g: tensor<2x8xf32>) {
  // expected-error @+1 {{'echo.embedding_grad' op expected result 0 of type 'tensor<5x8xf32>', found 'tensor<6x8xf32>'}}
  %0 = echo.embedding_grad %i, %g {rows = 5 : i64} : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

// (C1) of softmax_cross_entropy
func.func @cross_entropy_rank(%x: tensor<f32>, %l: tensor<i32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy' op expected logits of rank at least 1, found 0}}
  %0:2 = echo.softmax_cross_entropy %x, %l : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @cross_entropy_labels(%x: tensor<2x8xf32>, %l: tensor<3xi32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy' op expected labels with shape [2], found [3]}}
  %0:2 = echo.softmax_cross_entropy %x, %l : (tensor<2x8xf32>, tensor<3xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// (C2) of softmax_cross_entropy
func.func @cross_entropy_smoothing(%x: tensor<2x8xf32>, %l: tensor<2xi32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy' op expected label_smoothing in [0, 1), found 1.0}}
  %0:2 = echo.softmax_cross_entropy %x, %l {label_smoothing = 1.0 : f64} : (tensor<2x8xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @cross_entropy_negative_smoothing(%x: tensor<2x8xf32>, %l: tensor<2xi32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy' op expected label_smoothing in [0, 1), found -5.0}}
  %0:2 = echo.softmax_cross_entropy %x, %l {label_smoothing = -0.5 : f64} : (tensor<2x8xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// (C3) of softmax_cross_entropy
func.func @cross_entropy_result(%x: tensor<2x8xf16>, %l: tensor<2xi32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy' op expected result 0 of type 'tensor<2xf32>', found 'tensor<2xf16>'}}
  %0:2 = echo.softmax_cross_entropy %x, %l : (tensor<2x8xf16>, tensor<2xi32>) -> (tensor<2xf16>, tensor<2xf16>)
  return
}

// -----

// (C1) of softmax_cross_entropy_grad
func.func @cross_entropy_grad_labels(%x: tensor<2x8xf32>, %l: tensor<3xi32>, %s: tensor<2xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy_grad' op expected labels with shape [2], found [3]}}
  %0 = echo.softmax_cross_entropy_grad %x, %l, %s, %g : (tensor<2x8xf32>, tensor<3xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @cross_entropy_grad_log_sum_exp(%x: tensor<2x8xf32>, %l: tensor<2xi32>, %s: tensor<3xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy_grad' op expected log_sum_exp with shape [2], found [3]}}
  %0 = echo.softmax_cross_entropy_grad %x, %l, %s, %g : (tensor<2x8xf32>, tensor<2xi32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @cross_entropy_grad_gradient(%x: tensor<2x8xf32>, %l: tensor<2xi32>, %s: tensor<2xf32>, %g: tensor<2x1xf32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy_grad' op expected gradient with shape [2], found [2, 1]}}
  %0 = echo.softmax_cross_entropy_grad %x, %l, %s, %g : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @cross_entropy_grad_element_type(%x: tensor<2x8xf16>, %l: tensor<2xi32>, %s: tensor<2xf16>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy_grad' op expected log_sum_exp with element type 'f32', found 'f16'}}
  %0 = echo.softmax_cross_entropy_grad %x, %l, %s, %g : (tensor<2x8xf16>, tensor<2xi32>, tensor<2xf16>, tensor<2xf32>) -> tensor<2x8xf16>
  return
}

// -----

// (C2) of softmax_cross_entropy_grad
func.func @cross_entropy_grad_result(%x: tensor<2x8xf32>, %l: tensor<2xi32>, %s: tensor<2xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'echo.softmax_cross_entropy_grad' op expected result 0 of type 'tensor<2x8xf32>', found 'tensor<2x7xf32>'}}
  %0 = echo.softmax_cross_entropy_grad %x, %l, %s, %g : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x7xf32>
  return
}

// -----

// (C1) of dropout
func.func @dropout_rate(%x: tensor<2x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'echo.dropout' op expected rate in [0, 1), found 1.0}}
  %0:2 = echo.dropout %x, %n, %n, %n {rate = 1.0 : f64} : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x8xf32>, tensor<2x8xi1>)
  return
}

// -----

func.func @dropout_negative_rate(%x: tensor<2x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'echo.dropout' op expected rate in [0, 1), found -1.0}}
  %0:2 = echo.dropout %x, %n, %n, %n {rate = -1.0 : f64} : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x8xf32>, tensor<2x8xi1>)
  return
}

// -----

// (C2) of dropout
func.func @dropout_result(%x: tensor<2x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'echo.dropout' op expected result 0 of type 'tensor<2x8xf32>', found 'tensor<2x7xf32>'}}
  %0:2 = echo.dropout %x, %n, %n, %n {rate = 0.5 : f64} : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x7xf32>, tensor<2x8xi1>)
  return
}

// -----

func.func @dropout_mask(%x: tensor<2x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'echo.dropout' op expected result 1 of type 'tensor<2x8xi1>', found 'tensor<2x7xi1>'}}
  %0:2 = echo.dropout %x, %n, %n, %n {rate = 0.5 : f64} : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x8xf32>, tensor<2x7xi1>)
  return
}

// -----

// (C1) of lstm_cell
func.func @lstm_cell_rank(%g: tensor<f32>, %c: tensor<f32>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected gates of rank at least 1, found 0}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @lstm_cell_width(%g: tensor<2x7xf32>, %c: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected gates with a multiple of 4 as its last dimension, found 7}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<2x7xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x7xf32>)
  return
}

// -----

func.func @lstm_cell_cell(%g: tensor<2x8xf32>, %c: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected cell with shape [2, 2], found [2, 3]}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<2x8xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x8xf32>)
  return
}

// -----

func.func @lstm_cell_element_type(%g: tensor<2x8xf32>, %c: tensor<2x2xf16>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected cell with element type 'f32', found 'f16'}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<2x8xf32>, tensor<2x2xf16>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x8xf32>)
  return
}

// -----

// (C2) of lstm_cell
func.func @lstm_cell_hidden(%g: tensor<2x8xf32>, %c: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected result 0 of type 'tensor<2x2xf32>', found 'tensor<2x3xf32>'}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<2x8xf32>, tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x8xf32>)
  return
}

// -----

func.func @lstm_cell_new_cell(%g: tensor<2x8xf32>, %c: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected result 1 of type 'tensor<2x2xf32>', found 'tensor<2x3xf32>'}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<2x8xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x8xf32>)
  return
}

// -----

func.func @lstm_cell_activated(%g: tensor<2x8xf32>, %c: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell' op expected result 2 of type 'tensor<2x8xf32>', found 'tensor<2x2xf32>'}}
  %0:3 = echo.lstm_cell %g, %c : (tensor<2x8xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// -----

// (C1) of lstm_cell_grad
func.func @lstm_cell_grad_activated(%a: tensor<2x6xf32>, %c: tensor<2x2xf32>, %n: tensor<2x2xf32>, %h: tensor<2x2xf32>, %d: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell_grad' op expected activated with a multiple of 4 as its last dimension, found 6}}
  %0:2 = echo.lstm_cell_grad %a, %c, %n, %h, %d : (tensor<2x6xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x6xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @lstm_cell_grad_cell(%a: tensor<2x8xf32>, %c: tensor<2x3xf32>, %n: tensor<2x2xf32>, %h: tensor<2x2xf32>, %d: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell_grad' op expected cell with shape [2, 2], found [2, 3]}}
  %0:2 = echo.lstm_cell_grad %a, %c, %n, %h, %d : (tensor<2x8xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x8xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @lstm_cell_grad_new_cell(%a: tensor<2x8xf32>, %c: tensor<2x2xf32>, %n: tensor<2x3xf32>, %h: tensor<2x2xf32>, %d: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell_grad' op expected new_cell with shape [2, 2], found [2, 3]}}
  %0:2 = echo.lstm_cell_grad %a, %c, %n, %h, %d : (tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x8xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @lstm_cell_grad_hidden_gradient(%a: tensor<2x8xf32>, %c: tensor<2x2xf32>, %n: tensor<2x2xf32>, %h: tensor<2x2xf16>, %d: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell_grad' op expected hidden_gradient with element type 'f32', found 'f16'}}
  %0:2 = echo.lstm_cell_grad %a, %c, %n, %h, %d : (tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf16>, tensor<2x2xf32>) -> (tensor<2x8xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @lstm_cell_grad_cell_gradient(%a: tensor<2x8xf32>, %c: tensor<2x2xf32>, %n: tensor<2x2xf32>, %h: tensor<2x2xf32>, %d: tensor<3x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell_grad' op expected cell_gradient with shape [2, 2], found [3, 2]}}
  %0:2 = echo.lstm_cell_grad %a, %c, %n, %h, %d : (tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>) -> (tensor<2x8xf32>, tensor<2x2xf32>)
  return
}

// -----

func.func @lstm_cell_grad_result(%a: tensor<2x8xf32>, %c: tensor<2x2xf32>, %n: tensor<2x2xf32>, %h: tensor<2x2xf32>, %d: tensor<2x2xf32>) {
  // expected-error @+1 {{'echo.lstm_cell_grad' op expected result 0 of type 'tensor<2x8xf32>', found 'tensor<2x2xf32>'}}
  %0:2 = echo.lstm_cell_grad %a, %c, %n, %h, %d : (tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  return
}
