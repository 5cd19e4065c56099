((list_lit . (sym_lit name: (sym_name) @_) . (sym_lit name: (sym_name) @name)) @module
  (#eq? @_ "ns"))
((list_lit . (sym_lit name: (sym_name) @_) . (sym_lit name: (sym_name) @name)) @function
  (#any-of? @_ "defn" "defn-" "defmulti" "defmethod"))
((list_lit . (sym_lit name: (sym_name) @_) . (sym_lit name: (sym_name) @name)) @macro
  (#eq? @_ "defmacro"))
((list_lit . (sym_lit name: (sym_name) @_) . (sym_lit name: (sym_name) @name)) @interface
  (#eq? @_ "defprotocol"))
((list_lit . (sym_lit name: (sym_name) @_) . (sym_lit name: (sym_name) @name)) @struct
  (#any-of? @_ "defrecord" "deftype"))
((list_lit . (sym_lit name: (sym_name) @_) . (sym_lit name: (sym_name) @name)) @variable
  (#any-of? @_ "def" "defonce"))
