"""Audits of records: the checks, and the known mistakes behind failed checks."""
