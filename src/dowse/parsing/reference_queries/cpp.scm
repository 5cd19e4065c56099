(base_class_clause) @inheritance
(using_declaration) @import
(template_argument_list) @argument
(for_range_loop declarator: [(identifier) @local (_ (identifier) @local)])
(type_parameter_declaration (type_identifier) @local)
(field_declaration declarator: [
  (function_declarator)
  (pointer_declarator declarator: (function_declarator))
  (reference_declarator (function_declarator))
]) @declaration
(declaration declarator: (reference_declarator (function_declarator))) @declaration
(translation_unit (class_specifier name: (type_identifier) @forward !body))
(declaration_list [(class_specifier name: (type_identifier) @forward !body) (struct_specifier name: (type_identifier) @forward !body)])
