(import_spec) @import
(package_clause) @package
(field_declaration !name type: (_) @inheritance)
(parameter_declaration type: (_) @annotation)
(variadic_parameter_declaration type: (_) @annotation)
(field_declaration name: (_) type: (_) @annotation)
(var_spec type: (_) @annotation)
(function_declaration result: (_) @annotation)
(method_declaration result: (_) @annotation)
(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(var_spec name: (identifier) @local)
(const_spec name: (identifier) @local)
(keyed_element key: (literal_element (identifier) @skip))
(field_declaration name: (field_identifier) @skip)
(method_elem) @declaration
