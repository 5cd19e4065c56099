; class EXPORT_MACRO Name { … }: the macro is taken for the class, the class for a function
(function_definition type: (class_specifier !body) declarator: (identifier) @name) @class
(function_definition type: (struct_specifier !body) declarator: (identifier) @name) @struct
(class_specifier name: (type_identifier) @name body: (_)) @class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @struct
(namespace_definition name: [(namespace_identifier) (nested_namespace_specifier)] @name) @module
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
; methods in the class
(function_definition declarator: [
  (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
]) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @function
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
]) @method
(field_declaration declarator: (field_identifier) @name) @field
; methods outside of it: A::b, and a::A::b
(function_definition declarator: [
  (function_declarator declarator: (qualified_identifier scope: [(namespace_identifier) @owner (template_type name: (_) @owner)] name: [
    (identifier) (destructor_name) (operator_name)] @name))
  (function_declarator declarator: (qualified_identifier name: (qualified_identifier scope: [(namespace_identifier) @owner (template_type name: (_) @owner)] name: [
    (identifier) (destructor_name) (operator_name)] @name)))
  (pointer_declarator declarator: (function_declarator declarator:
    (qualified_identifier scope: [(namespace_identifier) @owner (template_type name: (_) @owner)] name: [(identifier) (operator_name)] @name)))
  (reference_declarator (function_declarator declarator:
    (qualified_identifier scope: [(namespace_identifier) @owner (template_type name: (_) @owner)] name: [(identifier) (operator_name)] @name)))
]) @method
