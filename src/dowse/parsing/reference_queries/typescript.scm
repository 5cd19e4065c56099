(required_parameter pattern: [(identifier) @local (rest_pattern (identifier) @local)])
(optional_parameter pattern: (identifier) @local)
(type_annotation) @annotation
(type_arguments) @argument
(type_alias_declaration value: (_) @annotation)
(extends_type_clause) @inheritance
(type_parameter name: (type_identifier) @local)
[(method_signature) (abstract_method_signature) (function_signature)] @declaration
