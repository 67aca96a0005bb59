"""What every part stands on: results and their errors, drawing, sample data, reports, rows of files."""
