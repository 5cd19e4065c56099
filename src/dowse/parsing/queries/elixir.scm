((call target: (identifier) @_ (arguments . (alias) @name)) @module
  (#any-of? @_ "defmodule" "defprotocol"))
((call target: (identifier) @_ (arguments . (alias) @name)) @scope
  (#eq? @_ "defimpl"))
((call target: (identifier) @_ (arguments . [
  (identifier) @name
  (call target: (identifier) @name)
  (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
])) @function
  (#any-of? @_ "def" "defp" "defdelegate" "defn" "defnp"))
((call target: (identifier) @_ (arguments . [
  (identifier) @name
  (call target: (identifier) @name)
  (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")
])) @macro
  (#any-of? @_ "defmacro" "defmacrop" "defguard" "defguardp"))
((unary_operator operator: "@" operand: (call target: (identifier) @_ (arguments (binary_operator left: [
  (identifier) @name
  (call target: (identifier) @name)
])))) @type
  (#any-of? @_ "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call target: (identifier) @_ (arguments (binary_operator left:
  (call target: (identifier) @name))))) @function
  (#any-of? @_ "callback" "macrocallback"))
; a module attribute with a value is a constant
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @constant
  (#not-match? @name "^(doc|moduledoc|typedoc|spec|type|typep|opaque|callback|macrocallback|impl|behaviour|derive|enforce_keys|tag|moduletag|describetag|deprecated|since|dialyzer|compile|on_load|before_compile|after_compile|optional_callbacks|external_resource|vsn)$"))
