"""The worker: what fetches values, runs the handlers of the user's, and ends the leases by what came of it."""
