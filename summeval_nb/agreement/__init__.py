"""How well does a metric agree with people? Correlation, SummEval, significance."""
