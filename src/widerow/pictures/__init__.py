"""Pictures as values: shapes, heat maps, SVG and PNG. Pure, and knows neither tables nor pages."""
