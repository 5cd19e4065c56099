(import_declaration) @import
(package_clause name: (_) @package)
(extends_clause) @inheritance
(annotation) @annotation
(parameter type: (_) @annotation)
(class_parameter type: (_) @annotation)
(type_arguments) @argument
(parameter name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(binding name: (identifier) @local)
(block (val_definition pattern: (identifier) @local))
(enumerator . (identifier) @local)
[(function_declaration) (val_declaration)] @declaration
(class_parameter name: (identifier) @typed)
(arguments (assignment_expression left: (identifier) @member))
