(class_definition name: (identifier) @name) @class
(mixin_declaration (identifier) @name) @trait
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @constant
(extension_declaration name: (identifier) @name) @extension
(function_signature name: (identifier) @name) @function
(constructor_signature name: (identifier) @name) @method
(getter_signature name: (identifier) @name) @method
(type_alias . (type_identifier) @name) @type
