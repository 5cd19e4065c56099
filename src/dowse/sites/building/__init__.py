"""An index built from what a site is made of: Markdown of six generators, or HTML."""
