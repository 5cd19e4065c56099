(class name: [(constant) @name (scope_resolution name: (constant) @name)]) @class
(module name: [(constant) @name (scope_resolution name: (constant) @name)]) @module
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(alias name: (_) @name) @method
(assignment left: (constant) @name) @constant
((call method: (identifier) @_ arguments: (argument_list (simple_symbol) @name)) @field
  (#any-of? @_ "attr_accessor" "attr_reader" "attr_writer" "scope" "has_many" "has_one" "belongs_to"))
((call method: (identifier) @_ arguments: (argument_list . (simple_symbol) @name)) @method
  (#any-of? @_ "define_method" "alias_method"))
