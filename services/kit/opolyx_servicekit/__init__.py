"""What every service shares: settings, logs, errors, access, tokens, the store's file and the server.

Import from the modules; there is nothing here but the package.
"""
