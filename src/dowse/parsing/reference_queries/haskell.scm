(import) @import
(signature type: (_) @annotation)
(patterns (variable) @local)
