[
  (class_declaration name: (_) @name)
  (class name: (_) @name)
] @class
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @method
; const f = () => …, anywhere; const C = class …
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant))
(program (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name) @constant)))
(program [
  (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @variable)
])
(program (export_statement [
  (lexical_declaration (variable_declarator name: (identifier) @name) @variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @variable)
]))
; module.exports.foo = …, exports.foo = …, Foo.prototype.bar = function …
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
(assignment_expression left: (member_expression property: (property_identifier) @name) right: (class)) @class
((program (expression_statement (assignment_expression
  left: (member_expression object: (_) @_ property: (property_identifier) @name)) @variable))
  (#any-of? @_ "exports" "module.exports"))
; the members of an object literal that are functions
(pair
  key: [(property_identifier) (string (string_fragment))] @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
