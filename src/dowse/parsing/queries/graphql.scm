[
  (object_type_definition (name) @name)
  (input_object_type_definition (name) @name)
  (scalar_type_definition (name) @name)
  (union_type_definition (name) @name)
] @type
(interface_type_definition (name) @name) @interface
(enum_type_definition (name) @name) @enum
(operation_definition (name) @name) @function
(fragment_definition (fragment_name) @name) @function
(field_definition (name) @name) @field
