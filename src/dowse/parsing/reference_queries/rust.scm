(use_declaration) @import
(mod_item name: (identifier) @_n !body) @import
(impl_item trait: (_) @inheritance)
(trait_bounds) @inheritance
[(attribute_item) (inner_attribute_item)] @annotation
(parameter type: (_) @annotation)
(field_declaration type: (_) @annotation)
(function_item return_type: (_) @annotation)
(let_declaration type: (_) @annotation)
(type_arguments) @argument
(parameter pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(let_declaration pattern: [(identifier) @local (tuple_pattern (identifier) @local) (mut_pattern (identifier) @local)])
(for_expression pattern: (identifier) @local)
(type_parameter name: (type_identifier) @local)
(field_initializer field: (field_identifier) @member)
(function_signature_item) @declaration
(field_declaration name: (field_identifier) @typed)
