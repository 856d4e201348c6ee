"""The handles users hold: one class for each queue of Redisson's, its calls that wait apart from those that do not."""
