// An app that comes with the server and runs in it: code of ours, so it needs no sandbox.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../../events/pipeline-event.ts'

export type InlineApp = {
  /** `inline:<name>`, which the plugin's row carries as its address. */
  url: string
  name: string
  description: string
  config_schema: readonly JsonObject[]
  /** Drops events or removes properties. */
  removes: boolean
  /** Reads the settings, once for all events. Throws SettingFault. */
  open(config: JsonObject): ProcessEvent
}

/** The event, changed in place or not, or null to drop it. May throw: then it has failed. */
export type ProcessEvent = (event: PipelineEvent) => PipelineEvent | null
