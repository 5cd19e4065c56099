(module_definition name: (identifier) @name) @module
(struct_definition (type_head (_) @name)) @struct
(abstract_definition (type_head (_) @name)) @type
(function_definition (signature (call_expression . (_) @name))) @function
(macro_definition (signature (call_expression . (identifier) @name))) @macro
(assignment . (call_expression . (identifier) @name)) @function
(const_statement (assignment . (identifier) @name)) @constant
