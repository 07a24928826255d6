"""Machine code to instructions and back: bytes, registers, operands, flags."""
