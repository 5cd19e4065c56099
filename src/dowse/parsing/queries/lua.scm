(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression field: (identifier) @name)) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name)) @method
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition))) @function
(assignment_statement
  (variable_list . name: (dot_index_expression field: (identifier) @name))
  (expression_list . value: (function_definition))) @function
(field name: (identifier) @name value: (function_definition)) @function
(chunk [
  (variable_declaration (assignment_statement (variable_list name: (identifier) @name)) @variable)
  (assignment_statement (variable_list name: (identifier) @name)) @variable
  (assignment_statement (variable_list name: (dot_index_expression field: (identifier) @name))) @variable
])
