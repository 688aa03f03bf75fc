// What strangers may keep open, and for how long. Settings of the same names change it.

export type ServerLimits = {
  connections: number
  /** Also for requests under way: one connection may carry many. */
  connections_per_address: number
  /** From the opening of a connection, or the start of a request, to the end of its headers. */
  header_timeout_ms: number
  /** Between two requests, and while a client fetches nothing of its answer. */
  idle_timeout_ms: number
}

/** Load balancers drop idle connections after 60 seconds, and must be the first to. */
export const DEFAULT_LIMITS: ServerLimits = {
  connections: 10_000,
  connections_per_address: 256,
  header_timeout_ms: 10_000,
  idle_timeout_ms: 65_000,
}
