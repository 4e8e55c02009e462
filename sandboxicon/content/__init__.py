"""The content as files: `fixtures/` seeds a database, and a database is written back to it, without loss.

documents   what an entry looks like as a document (plain dicts and lists), both ways
files       documents as YAML, one form only, so that a diff shows what changed and nothing else
loading     fixtures into the database, and the database into fixtures
"""
