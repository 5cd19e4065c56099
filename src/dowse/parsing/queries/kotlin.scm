; the keyword tells a class, an interface and an enum from one another
(class_declaration "interface" name: (identifier) @name) @interface
((class_declaration (modifiers (class_modifier) @_) name: (identifier) @name) @enum
  (#eq? @_ "enum"))
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @object
(companion_object name: (identifier) @name) @object
(function_declaration name: (identifier) @name) @function
(type_alias type: (identifier) @name) @type
(enum_entry (identifier) @name) @constant
((property_declaration (modifiers (property_modifier) @_) (variable_declaration . (identifier) @name)) @constant
  (#eq? @_ "const"))
(source_file (property_declaration (variable_declaration . (identifier) @name)) @variable)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @field)
(class_parameter ["val" "var"] . (identifier) @name) @field
