(using_directive) @import
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
(base_list) @inheritance
(attribute) @annotation
(parameter type: (_) @annotation)
(variable_declaration type: (_) @annotation)
(property_declaration type: (_) @annotation)
(method_declaration returns: (_) @annotation)
(type_argument_list) @argument
(parameter name: (identifier) @local)
(implicit_parameter) @local
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(type_parameter name: (identifier) @local)
(argument name: (identifier) @skip)
(method_declaration !body) @declaration
