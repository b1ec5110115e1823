"""Pictures as values: shapes, heat maps, SVG and PNG. Pure; independent of tables and pages."""
