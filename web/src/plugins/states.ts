// What needs attention with an app, in words. No requests here.
import type { StatusKind } from '../ui/Status'
import { countText } from '../ui/format'
import type { Config, Plugin } from './queries'

export type AppState = { kind: StatusKind; text: string; detail?: string }

/** The gravest first; null for an app that is as it should be. */
export function problemOf(config: Config, plugin: Pick<Plugin, 'errors'> | undefined): AppState | null {
  const [error] = plugin?.errors ?? []
  if (error !== undefined) return { kind: 'failed', text: 'Code does not run', detail: error.message }
  if (config.held_events > 0) {
    const text = `${countText(config.held_events)} ${config.held_events === 1 ? 'event' : 'events'} held`
    return { kind: 'held', text, ...(config.error === null ? {} : { detail: config.error.message }) }
  }
  if (config.error !== null) return { kind: 'failed', text: 'Stopped', detail: config.error.message }
  if (config.enabled && config.failures_24h > 0)
    return { kind: 'failed', text: failuresText(config.failures_24h) }
  if (hasNewVersion(config)) return { kind: 'waiting', text: 'New version to accept' }
  return null
}

export const failuresText = (count: number): string =>
  `${countText(count)} ${count === 1 ? 'failure' : 'failures'} in 24 h`

export function stateOf(config: Config, plugin: Pick<Plugin, 'errors'> | undefined): AppState {
  return (
    problemOf(config, plugin) ??
    (config.enabled ? { kind: 'delivered', text: 'On' } : { kind: 'waiting', text: 'Off' })
  )
}

/** Another organization's app runs as it was accepted. */
export const hasNewVersion = ({
  version,
  latest_version,
}: Pick<Config, 'version' | 'latest_version'>): boolean =>
  version !== null && latest_version !== null && version !== latest_version

/** `0`, `0.4`, `12`, `1,203`. */
export function rateText(perMinute: number): string {
  if (perMinute === 0) return '0'
  if (perMinute < 0.1) return '< 0.1'
  return perMinute < 10 ? String(Math.round(perMinute * 10) / 10) : countText(Math.round(perMinute))
}
