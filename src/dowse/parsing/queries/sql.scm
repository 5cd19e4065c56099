(create_table (object_reference name: (identifier) @name)) @struct
(create_view (object_reference name: (identifier) @name)) @struct
(create_function (object_reference name: (identifier) @name)) @function
(create_type (object_reference name: (identifier) @name)) @type
