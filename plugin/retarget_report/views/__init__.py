"""The views of the page: each module says what data its script in app/ gets, and makes them."""
