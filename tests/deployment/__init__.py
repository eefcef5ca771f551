"""The site as docs/deploy says: nginx, processes that are killed and replaced, and people who notice nothing of it."""
