"""Do the biclusters hold in other data, do they recur over samples, and what are their samples?"""
