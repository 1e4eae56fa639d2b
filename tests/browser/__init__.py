"""The pages in a real browser, as a person meets them."""
