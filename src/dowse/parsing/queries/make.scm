(rule (targets (word) @name)) @function
(variable_assignment name: (word) @name) @variable
(define_directive name: (word) @name) @macro
