(call method: (identifier) @_m arguments: (argument_list . (string)) (#match? @_m "^(require|require_relative|load)$")) @import
(superclass) @inheritance
(call method: (identifier) @_m (#match? @_m "^(include|extend|prepend)$")) @inheritance
(method_parameters [(identifier) @local (_ name: (identifier) @local)])
(block_parameters [(identifier) @local (_ name: (identifier) @local)])
(assignment left: [(identifier) @local (left_assignment_list (identifier) @local)])
(exception_variable (identifier) @local)
(assignment left: (instance_variable) @typed)
; a symbol is a use where it names a method: `private :peel`, `send(:peel)`, `&:peel`
[(simple_symbol) (hash_key_symbol)] @no_code
(call !receiver arguments: (argument_list (simple_symbol) @code))
(call receiver: (_) method: (identifier) @_m arguments: (argument_list . (simple_symbol) @code)
  (#match? @_m "^(__send__|public_send|send|respond_to[?]|try|(instance_|public_)?method|alias_method|delegate)$"))
[(block_argument (simple_symbol) @code) (pair key: (string) value: (simple_symbol) @code)]
(call !receiver method: (identifier) @_m arguments: (argument_list . (simple_symbol) @local) (#match? @_m "^(let!?|subject)$"))
