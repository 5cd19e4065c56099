(declarations [
  (signature name: [(variable) (prefix_id (operator))] @name)
  (signature names: (binding_list name: (_) @name))
] @function)
(declarations [
  (function name: [(variable) (prefix_id (operator))] @name)
  (function (infix operator: (operator) @name))
  (bind name: (variable) @name)
] @function)
(data_type name: [(name) (prefix_id)] @name) @type
(newtype name: [(name) (prefix_id)] @name) @type
(type_synomym name: [(name) (prefix_id)] @name) @type
(type_family name: [(name) (prefix_id)] @name) @type
(class name: [(name) (prefix_id)] @name) @class
(class_declarations (signature name: [(variable) (prefix_id (operator))] @name) @method)
(instance name: (_) @name) @scope
(data_constructor [
  (record name: (constructor) @name)
  (prefix name: (constructor) @name)
]) @constant
(gadt_constructor name: (constructor) @name) @constant
(pattern_synonym (_ synonym: (_ name: (constructor) @name))) @constant
(field name: (field_name (variable) @name)) @field
(header module: (module) @name) @module
