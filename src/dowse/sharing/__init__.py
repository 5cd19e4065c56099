"""A shared index in a folder or a bucket: its objects, its versions, and how a machine gets one."""
