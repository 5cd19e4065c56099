[(import_statement) (import_from_statement)] @import
(class_definition superclasses: (_) @inheritance)
[(type) (decorator)] @annotation
(keyword_argument name: (identifier) @skip)
(parameters [
  (identifier) @local
  (typed_parameter . (identifier) @local)
  (_ name: (identifier) @local)
  (list_splat_pattern (identifier) @local)
  (dictionary_splat_pattern (identifier) @local)
  (typed_parameter [(list_splat_pattern (identifier) @local) (dictionary_splat_pattern (identifier) @local)])
])
(lambda_parameters [(identifier) @local (_ name: (identifier) @local)])
(assignment left: [(identifier) @local (pattern_list (identifier) @local) (tuple_pattern (identifier) @local)])
(for_statement left: [(identifier) @local (pattern_list (identifier) @local) (tuple_pattern (identifier) @local)])
(for_in_clause left: [(identifier) @local (pattern_list (identifier) @local) (tuple_pattern (identifier) @local)])
(named_expression name: (identifier) @local)
(as_pattern_target (identifier) @local)
