"""Domain types: frozen values without the behaviour of any stage.

Lines and columns are zero-based and columns count code points; reports add one, the server converts to the
client's position encoding. Cycles, uops and bytes are the units throughout.
"""
