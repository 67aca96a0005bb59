"""Does the article support the sentence? Checkers, faithfulness, what a verdict is worth."""
