(call method: (identifier) @_m arguments: (argument_list . (string)) (#match? @_m "^(require|require_relative|load)$")) @import
(superclass) @inheritance
(call method: (identifier) @_m (#match? @_m "^(include|extend|prepend)$")) @inheritance
(method_parameters [(identifier) @local (_ name: (identifier) @local)])
(block_parameters [(identifier) @local (_ name: (identifier) @local)])
(assignment left: [(identifier) @local (left_assignment_list (identifier) @local)])
(exception_variable (identifier) @local)
(assignment left: (instance_variable) @typed)
