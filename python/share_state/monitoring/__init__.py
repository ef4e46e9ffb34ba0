"""What operators ask a server over HTTP: metrics in Prometheus' form, and whether it is well."""
