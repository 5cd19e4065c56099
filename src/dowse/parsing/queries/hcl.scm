; the last label names the block: resource "type" "name"
(block (identifier) (string_lit (template_literal) @name) . (block_start)) @variable
((block (identifier) @_ (body (attribute (identifier) @name) @variable))
  (#eq? @_ "locals"))
