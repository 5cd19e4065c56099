(declarations [
  (signature name: [(variable) @name (prefix_id (operator) @name)])
  (signature names: (binding_list name: (_) @name))
] @function)
(declarations [
  (function name: [(variable) @name (prefix_id (operator) @name)])
  (function (infix operator: (operator) @name))
  (bind name: (variable) @name)
] @function)
(data_type name: [(name) @name (prefix_id (_) @name)]) @type
(newtype name: [(name) @name (prefix_id (_) @name)]) @type
(type_synomym name: [(name) @name (prefix_id (_) @name)]) @type
(type_family name: [(name) @name (prefix_id (_) @name)]) @type
(class name: [(name) @name (prefix_id (_) @name)]) @class
(class_declarations (signature name: [(variable) @name (prefix_id (operator) @name)]) @method)
(instance name: (_) @name) @scope
(data_constructor [
  (record name: (constructor) @name)
  (prefix name: (constructor) @name)
]) @constant
(gadt_constructor name: (constructor) @name) @constant
(pattern_synonym (_ synonym: (_ name: (constructor) @name))) @constant
(field name: (field_name (variable) @name)) @field
(header module: (module) @name) @module
