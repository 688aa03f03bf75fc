// What needs somebody: exports that fail or are late, apps that cannot run or hold events. The gravest comes first.
import type { LinkProps } from '@tanstack/react-router'
import type { Schema } from '../api/client'
import { linkToExport } from '../batch-exports/addresses'
import type { ExportStatus } from '../batch-exports/queries'
import { exportState } from '../batch-exports/states'
import { countText, durationText } from '../ui/format'
import type { StatusKind } from '../ui/Status'

export type AppConfig = Pick<Schema<'PluginConfig'>, 'id' | 'name' | 'enabled' | 'error' | 'held_events'>

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
  if (kind === 'failed') {
    const { id: run, latest_error } = each.last_run!
    return [
      { ...about, kind, words: 'fails', detail: latest_error, link: linkToExport(path, 'runs', { run }) },
    ]
  }
  if (each.paused || !each.is_late) return []
  const age = each.oldest_pending_age_s
  const rows = each.rows_behind
  const words = age === null ? 'is late' : `is ${durationText(age)} behind`
  const detail = rows === null ? null : `${countText(rows)} rows wait.`
  return [{ ...about, kind: 'held', words, detail, link: linkToExport(path, 'runs') }]
}

function ofApp(projectId: string, { id, name, enabled, error, held_events }: AppConfig): Attention[] {
  const params = { projectId, configId: String(id), tab: 'logs' }
  const link: LinkProps = { to: '/project/$projectId/apps/$configId/$tab', params }
  const about = { subject: name ?? `App ${id}`, link }
  return [
    ...(enabled && error !== null
      ? [{ ...about, key: `app ${id}`, kind: 'failed' as const, words: 'cannot run', detail: error.message }]
      : []),
    ...(held_events > 0
      ? [
          {
            ...about,
            key: `held ${id}`,
            kind: 'held' as const,
            words: `holds ${countText(held_events)} events`,
            detail: null,
          },
        ]
      : []),
  ]
}
