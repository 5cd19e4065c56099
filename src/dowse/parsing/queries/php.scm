(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(enum_case name: (name) @name) @constant
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (property_element (variable_name (name) @name))) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
