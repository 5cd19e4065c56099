(assignment_statement (expression_list value: (function_call name: (identifier) @_r (#eq? @_r "require")))) @import
(parameters (identifier) @local)
(block (variable_declaration (assignment_statement (variable_list name: (identifier) @local))))
