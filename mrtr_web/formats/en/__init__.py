"""English: 4 May 2027, 14:30."""
