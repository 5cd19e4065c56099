(package_statement (package_name) @name) @module
(function_definition name: (identifier) @name) @function
