(function_definition name: (word) @name) @function
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command ["export" "readonly" "declare" "typeset"]
  [(variable_assignment name: (variable_name) @name) (variable_name) @name]) @variable)
