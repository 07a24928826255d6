# Interface of the rule by which late operands waste issue slots on a core that counts macro-ops.


cdef class LateOperands:
    """Weighs every uop when it is renamed; the picker takes the slots when the uop leaves. This base class
    wastes nothing; cores without a rule use it."""

    cdef void weigh(self, int uop, int cycle, int place) noexcept nogil:
        """Set ``u_waste`` (how much issuing a uop will waste beyond its own slot) and ``u_waste_value`` (the
        operand that has to arrive last for that). ``place``: macro-ops dispatched before its instruction."""
        pass
