"""Audits of records: each check, and the known mistakes."""
