(import_declaration) @import
(package_declaration) @package
[(superclass) (super_interfaces) (extends_interfaces)] @inheritance
[(marker_annotation) (annotation)] @annotation
(formal_parameter type: (_) @annotation)
(field_declaration type: (_) @annotation)
(local_variable_declaration type: (_) @annotation)
(method_declaration type: (_) @annotation)
(type_arguments) @argument
(throws) @annotation
(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(formal_parameter name: (identifier) @local)
(spread_parameter (variable_declarator name: (identifier) @local))
(enhanced_for_statement name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(resource name: (identifier) @local)
(lambda_expression parameters: [(identifier) @local (inferred_parameters (identifier) @local)])
(type_parameter (type_identifier) @local)
(method_declaration !body) @declaration
