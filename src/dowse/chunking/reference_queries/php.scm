(namespace_use_declaration) @import
(namespace_definition name: (_) @package)
[(base_clause) (class_interface_clause)] @inheritance
(use_declaration) @inheritance
(attribute) @annotation
(named_type) @annotation
(argument name: (name) @skip)
