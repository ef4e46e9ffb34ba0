"""Members of share groups in processes of their own, whatever their library, which report what they do in one form."""
