(namespace_use_declaration) @import
(namespace_definition name: (_) @package)
[(base_clause) (class_interface_clause)] @inheritance
(use_declaration) @inheritance
(attribute) @annotation
(named_type) @annotation
(argument name: (name) @skip)
(method_declaration !body) @declaration
(simple_parameter name: (variable_name) @typed)
(assignment_expression left: [(variable_name) @typed (member_access_expression name: (name) @typed)] right: [(object_creation_expression) (member_call_expression) (scoped_call_expression) (function_call_expression)])
(array_creation_expression . (array_element_initializer [(variable_name) (class_constant_access_expression)]) . (array_element_initializer (string (string_content) @callable)) .)
