(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(compact_constructor_declaration name: (identifier) @name) @method
(enum_constant name: (identifier) @name) @constant
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
((field_declaration (modifiers) @_ declarator: (variable_declarator name: (identifier) @name)) @constant
  (#match? @_ "static[^@]*final|final[^@]*static"))
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
