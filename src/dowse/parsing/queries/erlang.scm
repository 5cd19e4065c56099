(module_attribute name: (atom) @name) @module
(pp_define lhs: (macro_lhs name: (_) @name)) @macro
(record_decl name: (atom) @name) @struct
(type_alias name: (type_name name: (atom) @name)) @type
(function_clause name: (atom) @name) @function
