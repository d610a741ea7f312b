"""Tables from PDF pages: extraction by several methods, each judged against ground truth and against the others."""
