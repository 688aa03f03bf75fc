// What needs somebody: exports that fail or are late, apps that cannot run, lose deliveries or hold events. The gravest comes first.
import type { LinkProps } from '@tanstack/react-router'
import type { Schema } from '../api/client'
import { linkToExport } from '../batch-exports/addresses'
import type { ExportStatus } from '../batch-exports/queries'
import { exportState, hasFailed, reasonOf } from '../batch-exports/states'
import { failuresText } from '../plugins/states'
import { countText, durationText } from '../ui/format'
import type { StatusKind } from '../ui/Status'

export type AppConfig = Pick<
  Schema<'PluginConfig'>,
  'id' | 'name' | 'enabled' | 'error' | 'held_events' | 'failures_24h'
>

export type Attention = {
  key: string
  kind: StatusKind
  /** What it is about. */
  subject: string
  /** What happened to it. */
  words: string
  /** In the words of whoever reported it. */
  detail: string | null
  link: LinkProps
}

const RANK: Partial<Record<StatusKind, number>> = { failed: 0, held: 1 }

export function attentionOf(
  projectId: string,
  exports: readonly ExportStatus[],
  apps: readonly AppConfig[],
): Attention[] {
  const found = [
    ...exports.flatMap((each) => ofExport(projectId, each)),
    ...apps.flatMap((each) => ofApp(projectId, each)),
  ]
  return found.toSorted((a, b) => RANK[a.kind]! - RANK[b.kind]! || a.subject.localeCompare(b.subject))
}

function ofExport(projectId: string, each: ExportStatus): Attention[] {
  const { kind } = exportState(each)
  const path = { projectId, exportId: each.id }
  const about = { key: `export ${each.id}`, subject: each.name }
  const { last_run } = each
  if (kind === 'failed' && last_run !== null && hasFailed(last_run.status)) {
    const link = linkToExport(path, 'runs', { run: last_run.id })
    return [{ ...about, kind, words: 'fails', detail: last_run.latest_error, link }]
  }
  // Its runs went well, so it is what they delivered that is wrong.
  if (kind === 'failed')
    return [
      {
        ...about,
        kind,
        words: 'has problems at its destination',
        detail: reasonOf(each) ?? null,
        link: linkToExport(path, 'proof'),
      },
    ]
  if (each.paused || !each.is_late) return []
  const age = each.oldest_pending_age_s
  const rows = each.rows_behind
  const words = age === null ? 'is late' : `is ${durationText(age)} behind`
  const detail = rows === null ? null : `${countText(rows)} rows wait.`
  return [{ ...about, kind: 'held', words, detail, link: linkToExport(path, 'runs') }]
}

function ofApp(projectId: string, app: AppConfig): Attention[] {
  const { id, name, enabled, error, held_events, failures_24h } = app
  const linkTo = (tab: string, search = {}): LinkProps => ({
    to: '/project/$projectId/apps/$configId/$tab',
    params: { projectId, configId: String(id), tab },
    search,
  })
  const subject = name ?? `App ${id}`
  const found: Attention[] = []
  if (enabled && error !== null)
    found.push({
      key: `app ${id}`,
      subject,
      kind: 'failed',
      words: 'cannot run',
      detail: error.message,
      link: linkTo('logs'),
    })
  else if (enabled && failures_24h > 0)
    found.push({
      key: `failures ${id}`,
      subject,
      kind: 'failed',
      words: `had ${failuresText(failures_24h)}`,
      detail: null,
      link: linkTo('metrics', { range: '24h' }),
    })
  if (held_events > 0)
    found.push({
      key: `held ${id}`,
      subject,
      kind: 'held',
      words: `holds ${countText(held_events)} events`,
      detail: null,
      link: linkTo('logs'),
    })
  return found
}
