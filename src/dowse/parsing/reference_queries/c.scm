(preproc_include) @import
(parameter_declaration type: (_) @annotation)
(declaration type: (_) @annotation)
(field_declaration type: (_) @annotation)
(parameter_declaration declarator: [(identifier) @local (_ (identifier) @local) (_ declarator: (_ declarator: (identifier) @local))])
(compound_statement (declaration declarator: [(identifier) @local (_ declarator: (identifier) @local) (_ declarator: (_ declarator: (identifier) @local))]))
(for_statement initializer: (declaration declarator: (init_declarator declarator: (identifier) @local)))
(declaration declarator: [
  (function_declarator)
  (pointer_declarator declarator: (function_declarator))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator)))
]) @declaration
(declaration (storage_class_specifier) @_s (#eq? @_s "extern")) @declaration
(type_definition type: (struct_specifier !body) declarator: (type_identifier)) @declaration
(translation_unit (struct_specifier name: (type_identifier) @forward !body))
(parameter_declaration declarator: [(identifier) @skip (_ (identifier) @skip) (_ declarator: (_ declarator: (identifier) @skip))])
; a prototype in a file that cannot be parsed is taken as a field
(ERROR (field_declaration declarator: [
  (function_declarator declarator: (field_identifier) @forward)
  (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @forward))
]))
