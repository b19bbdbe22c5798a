"""The reference evaluator: naive, literal, the truth that other engines are compared with."""
