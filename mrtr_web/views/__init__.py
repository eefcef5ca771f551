"""Pages: plain sync views that ask the wizard and the catalogue, and render."""
