// Projects, their events and their exports, made as any client would make them.
import { KEY } from '../../crash/first-project.ts'
import type { Sink } from './sinks.ts'

const HOUR_MS = 3_600_000

export type Tenant = { id: number; token: string }
export type MadeExport = { id: string; tenant: Tenant }

export class Tenants {
  readonly #url: string
  readonly #now: () => Date

  constructor(url: string, now: () => Date) {
    this.#url = url
    this.#now = now
  }

  /** With an event in each of the last `hours`. */
  async make(name: string, hours: number): Promise<Tenant> {
    const project = await this.#ask<{ id: number; api_token: string }>(
      'POST',
      '/api/organizations/@current/projects/',
      { name },
    )
    const tenant = { id: project.id, token: project.api_token }
    if (hours > 0) await this.capture(tenant, [...Array(hours).keys()])
    return tenant
  }

  /** Events that happened so many hours ago. */
  async capture({ token }: Tenant, hours_ago: readonly number[]): Promise<void> {
    const batch = hours_ago.map((ago) => ({
      event: 'seen',
      distinct_id: 'somebody',
      timestamp: this.hour(ago),
    }))
    await this.#ask('POST', '/batch/', { api_key: token, batch })
  }

  async export(
    tenant: Tenant,
    destination: Sink['destination'],
    schedule: { interval: string; paused: boolean },
  ): Promise<MadeExport> {
    const body = { name: 'n', destination, ...schedule }
    const { id } = await this.#ask<{ id: string }>('POST', `/api/projects/${tenant.id}/batch_exports/`, body)
    return { id, tenant }
  }

  /** From so many hours ago on, for so many hours. */
  async backfill({ id, tenant }: MadeExport, ago: number, hours: number): Promise<void> {
    const range = { start_at: this.hour(ago), end_at: this.hour(ago - hours) }
    await this.#ask('POST', `/api/projects/${tenant.id}/batch_exports/${id}/backfill/`, range)
  }

  /** What the runs of an export say of themselves. */
  async waits({ id, tenant }: MadeExport): Promise<(string | null)[]> {
    const path = `/api/projects/${tenant.id}/batch_exports/${id}/runs/`
    const { results } = await this.#ask<{ results: { finished_at: string; waiting_for: string | null }[] }>(
      'GET',
      path,
    )
    return results.filter(({ finished_at }) => finished_at === null).map(({ waiting_for }) => waiting_for)
  }

  /** The beginning of an hour that lies back. */
  hour(ago: number): string {
    const now = this.#now().getTime()
    return new Date(now - (now % HOUR_MS) - ago * HOUR_MS).toISOString()
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text) as T
  }
}
