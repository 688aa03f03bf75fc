// Prometheus metrics of the process and of requests, and who may read them.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  observeRequest(method: string, route: string, status: number, seconds: number): void
  /** Adds a figure that is asked for at each scrape. */
  gauge(name: string, help: string, read: () => Promise<Record<string, number>>, label: string): void
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
          this.reset()
          for (const [key, value] of Object.entries(await read())) this.set({ [label]: key }, value)
        },
      })
    },
    text: () => registry.metrics(),
  }
}
