(class_interface . "@interface" . (identifier) @name) @class
(class_implementation . "@implementation" . (identifier) @name) @scope
(protocol_declaration (identifier) @name) @interface
(method_declaration (identifier) @name) @method
(method_definition (identifier) @name) @method
