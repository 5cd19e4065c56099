(import) @import
(package_header) @package
(delegation_specifier [
  (user_type) @inheritance
  (constructor_invocation (user_type) @inheritance)
  (explicit_delegation (user_type) @inheritance)
])
(annotation) @annotation
(user_type) @annotation
(parameter . (identifier) @local)
(class_parameter (identifier) @skip)
(variable_declaration . (identifier) @local)
(type_parameter (identifier) @local)
(value_argument . (identifier) @member . "=")
(function_declaration) @declaration
(function_declaration (function_body)) @definition
(class_parameter (identifier) @typed)
