//! Channels between parties: memory, TCP, TLS 1.3, metering, simulated links, handshake.
