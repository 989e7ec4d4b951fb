"""Quality measures of biclusters and biclusterings."""
