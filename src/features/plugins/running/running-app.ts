// A config that is switched on, and the one way to call it: what the parts of the clockwork (ingestion, deliveries,
// timetable, jobs) know of each other.
import type { AppCall, Host } from '../../../platform/sandbox/sandbox.ts'
import type { Redactor } from '../../../platform/secrets/redactor.ts'
import type { ProcessEvent } from '../inline/inline-app.ts'
import type { OnFailure } from '../rows.ts'
import type { StoredApp } from './attached-files.ts'

export type RunningApp = {
  config_id: number
  project_id: number
  organization_id: string
  plugin_id: number
  plugin_name: string
  order: number
  methods: ReadonlySet<string>
  scheduled_tasks: readonly string[]
  jobs: readonly string[]
  /** Which events a destination wants; null for all. */
  filters: unknown
  /** What becomes of events that it cannot run on. */
  on_failure: OnFailure
  /** Nobody has said so: it follows from what the app does. */
  is_on_failure_default: boolean
  /** Settings with secrets and defaults. */
  config: Record<string, unknown>
  /** Knows its secret settings: whatever is written of what it said or did goes through it. */
  redactor: Redactor
  code:
    | { kind: 'sandboxed'; app: StoredApp; host: Host }
    | { kind: 'inline'; processEvent: ProcessEvent }
    /** Cannot be run: `reason` says why. It counts for the events that should go through it, and for nothing else. */
    | { kind: 'broken'; reason: string }
}

/** Enough to write down what an app did, without its secrets. */
export type AppIds = Pick<RunningApp, 'config_id' | 'project_id' | 'plugin_id' | 'redactor'>

export type RunningApps = {
  /** Everything that is switched on, by project, order and id. */
  list(): readonly RunningApp[]
  ofProject(project_id: number): readonly RunningApp[]
  /**
   * Calls under watch: a fault is logged, strikes are counted, and an app whose code does not load or set up is left alone
   * until it is time to try again (AppIdle). Throws AppFault or AppIdle. Metrics are the caller's.
   */
  call(app: RunningApp, call: AppCall): Promise<unknown>
  /** The config as it is now: undefined once it was switched off or deleted. */
  current(config_id: number): RunningApp | undefined
}

/** Not to be called now; the message says why. */
export class AppIdle extends Error {}

/** It was switched off, or cannot be run any more: the list of apps says which, at once or in a moment. */
export class AppLeft extends AppIdle {}
