"""Makes instruction tables from microbenchmarks: latency, throughput, uops and ports, on any machine."""
