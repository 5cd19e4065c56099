[(import_or_export) (part_directive)] @import
[(superclass) (interfaces) (mixins)] @inheritance
(annotation) @annotation
(formal_parameter name: (identifier) @local)
(initialized_variable_definition name: (identifier) @local)
