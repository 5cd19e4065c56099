"""The Model Context Protocol: tools, arguments, elicitation, resources, errors and replies."""
