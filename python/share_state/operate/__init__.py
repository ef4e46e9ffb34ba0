"""Tools of operators: state and history, the live view, and everything that shows or serves them."""
