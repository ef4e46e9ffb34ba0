"""The live view as pages for a browser: `share-state web`.

Pages are made on the server, work without JavaScript, load nothing from elsewhere and change nothing. Needs the packages
``starlette``, ``jinja2`` and ``uvicorn`` (extra ``ops``).
"""
