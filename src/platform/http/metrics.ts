// Prometheus metrics of the process, of requests, and of whatever others count.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../../lib/with-timeout.ts'

/** A scrape does not wait longer for a figure. */
const READ_LIMIT_MS = 3_000

export type Metrics = {
  observeRequest(method: string, route: string, status: number, seconds: number): void
  /** Adds a figure that is asked for at each scrape, by the values of its label; missing when it cannot be had. */
  gauge(name: string, help: string, read: () => Promise<Record<string, number>>, label: string): void
  /** Adds a count that only grows, asked for at each scrape; by the values of its label, if it has one. */
  counter(name: string, help: string, read: () => number): void
  counter(name: string, help: string, read: () => Record<string, number>, label: string): void
  text(): Promise<string>
}

export function openMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'longshore_http_request_seconds',
    help: 'Time from request to answer, by route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  })
  return {
    observeRequest: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    gauge(name, help, read, label) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        async collect() {
          // Without the database there is nothing to count, but the figures of the process are wanted all the more.
          const values = await withTimeout(
            read().catch(() => ({})),
            READ_LIMIT_MS,
            () => ({}),
          )
          this.reset()
          for (const [key, value] of Object.entries(values)) this.set({ [label]: key }, value)
        },
      })
    },
    counter(name: string, help: string, read: () => number | Record<string, number>, label?: string) {
      new Counter({
        name,
        help,
        labelNames: label === undefined ? [] : [label],
        registers: [registry],
        collect() {
          this.reset()
          const values = read()
          if (typeof values === 'number') this.inc(values)
          else for (const [key, value] of Object.entries(values)) this.inc({ [label!]: key }, value)
        },
      })
    },
    text: () => registry.metrics(),
  }
}
