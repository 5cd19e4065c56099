(class_definition name: (identifier) @name) @class
(function_definition function: (identifier) @name) @function
