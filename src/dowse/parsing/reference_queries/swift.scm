(import_declaration) @import
(inheritance_specifier) @inheritance
(attribute) @annotation
(type_annotation) @annotation
(parameter name: (simple_identifier) @local)
(parameter external_name: (simple_identifier) @skip)
(lambda_parameter name: (simple_identifier) @local)
(statements (property_declaration name: (pattern bound_identifier: (simple_identifier) @local)))
(for_statement item: (pattern bound_identifier: (simple_identifier) @local))
(value_argument_label) @no_code
[(protocol_function_declaration) (protocol_property_declaration)] @declaration
