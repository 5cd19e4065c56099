(module_definition (module_binding (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(type_definition (type_binding name: (_) @name)) @type
(value_definition (let_binding pattern: (value_name) @name (parameter))) @function
(compilation_unit (value_definition (let_binding pattern: (value_name) @name)) @variable)
(structure (value_definition (let_binding pattern: (value_name) @name)) @variable)
(value_specification (value_name) @name) @function
(exception_definition (constructor_declaration (constructor_name) @name)) @type
