(function_declaration name: (identifier) @name) @function
(variable_declaration . (identifier) @name (struct_declaration)) @struct
(variable_declaration . (identifier) @name (union_declaration)) @struct
(variable_declaration . (identifier) @name (opaque_declaration)) @struct
(variable_declaration . (identifier) @name (enum_declaration)) @enum
(variable_declaration . (identifier) @name (error_set_declaration)) @enum
(source_file (variable_declaration "const" . (identifier) @name) @constant)
(source_file (variable_declaration "var" . (identifier) @name) @variable)
(struct_declaration (variable_declaration "const" . (identifier) @name) @constant)
(container_field name: (identifier) @name) @field
