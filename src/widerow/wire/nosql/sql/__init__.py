"""SQL of Oracle NoSQL: its language, expressions and statements."""
