(call target: (identifier) @_c (#match? @_c "^(alias|import|use|require)$")) @import
