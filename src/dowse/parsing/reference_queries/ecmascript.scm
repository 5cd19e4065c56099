(import_statement) @import
(export_statement source: (_)) @import
(variable_declarator value: (call_expression function: (identifier) @_f (#eq? @_f "require"))) @import
(class_heritage) @inheritance
(decorator) @annotation
(pair key: (property_identifier) @skip)
(pair_pattern key: (property_identifier) @skip)
(arrow_function parameter: (identifier) @local)
(variable_declarator name: (identifier) @local)
(array_pattern (identifier) @local)
(pair_pattern value: (identifier) @local)
(shorthand_property_identifier_pattern) @local
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
