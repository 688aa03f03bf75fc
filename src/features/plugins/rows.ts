// The tables' rows, as the statements of this slice give them.
import type { SourceError } from './source-errors.ts'

export const PLUGIN_TYPES = ['local', 'custom', 'repository', 'source', 'inline'] as const
export type PluginType = (typeof PLUGIN_TYPES)[number]

/** Empty until the code was looked at. */
export type Capabilities = { scheduled_tasks?: string[]; jobs?: string[]; methods?: string[] }

export type PluginRow = {
  id: number
  organization_id: string | null
  /** Null for what comes with the server. */
  organization_name: string | null
  plugin_type: PluginType
  name: string | null
  description: string | null
  url: string | null
  /** Sealed. */
  private_token: string | null
  icon: string | null
  config_schema: unknown
  tag: string | null
  latest_tag: string | null
  latest_tag_checked_at: Date | null
  is_global: boolean
  capabilities: Capabilities
  metrics: unknown
  public_jobs: unknown
  created_via_family: string
  /** What keeps its files from running. */
  errors: readonly SourceError[]
  /** Drops events or removes properties when it is tried on samples. */
  removes: boolean
  created_at: Date
  updated_at: Date
}

export type SourceFileRow = {
  plugin_id: number
  filename: string
  source: string
  transpiled: string | null
  /** From places in `transpiled` to places in `source`. */
  mappings: string | null
  status: 'LOCKED' | 'TRANSPILED' | 'ERROR' | null
  error: string | null
  updated_at: Date
}

/** What becomes of an event when its app cannot run on it. */
export const ON_FAILURE = ['pass', 'hold', 'drop'] as const
export type OnFailure = (typeof ON_FAILURE)[number]

export type PluginConfigRow = {
  id: number
  project_id: number
  plugin_id: number
  enabled: boolean
  deleted: boolean
  order: number
  name: string
  description: string
  /** Without secrets. */
  config: Record<string, unknown>
  /** Sealed; see configs/settings.ts. */
  secrets: string
  filters: unknown
  /** What the project has accepted of another organization's plugin; null: it runs the plugin as it is. */
  version: string | null
  /** Null: by default. See configs/rules.ts. */
  on_failure: OnFailure | null
  /** It has dropped an event of this project, or removed a property. */
  has_removed: boolean
  error: { message: string; time: string } | null
  web_token: string
  notified_at: Date | null
  created_at: Date
  updated_at: Date
}
