"""The scalar functions of SQL by their names, a module a family (sql §5, §7)."""
