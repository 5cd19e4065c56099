(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(type_alias_statement left: (type (identifier) @name)) @type
(module (expression_statement (assignment left: (identifier) @name) @variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @variable))
; a name that a try or if at the top level binds in several ways
(module [
  (if_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))
  (try_statement (block (expression_statement (assignment left: (identifier) @name) @variable)))
])
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @field)))
