// An app's code as a function of what CommonJS gives it, its settings, and what the guest found in it.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { ThreadApp } from '../messages.ts'
import { AppFault, type MetricKind, type Offer } from '../sandbox.ts'

/** Looked for among the top-level names of a script that exports nothing. */
const BARE_NAMES = [
  'setupPlugin',
  'teardownPlugin',
  'exportEvents',
  'onEvent',
  'processEvent',
  'processEventBatch',
  'composeWebhook',
  'getSettings',
  'runEveryMinute',
  'runEveryHour',
  'runEveryDay',
  'jobs',
  'metrics',
]

/** Enough to see a slip of the pen in. Each is compared with names that are called, where everybody would wait for a million. */
const MAX_EXPORTS = 100

/** On one line with the code, so that the lines of a script are those of its code. */
export const BEFORE_CODE = '(function (exports, require, module) {'

export function wrapScript(code: string): string {
  const found = BARE_NAMES.map((name) => `${name}: typeof ${name} === 'undefined' ? undefined : ${name}`)
  return `${BEFORE_CODE}${code}\nreturn {${found.join(', ')}} })`
}

/** What the guest is told of an app: of its attachments all but the contents, which it asks for. */
export function writeSettings({ config, attachments }: ThreadApp): string {
  const described = Object.entries(attachments).map(([key, { contents, ...attachment }]) => [
    key,
    { ...attachment, size: contents.length },
  ])
  return JSON.stringify({ config, attachments: Object.fromEntries(described) })
}

export function readOffer(found: JsonObject): Offer {
  const metrics = Object.create(null) as Record<string, MetricKind>
  for (const [name, kind] of Object.entries(isObject(found.metrics) ? found.metrics : {})) {
    if (kind === 'sum' || kind === 'max' || kind === 'min') metrics[name] = kind
  }
  return {
    capabilities: {
      scheduled_tasks: readNames(found.tasks),
      jobs: readNames(found.jobs),
      methods: readNames(found.methods),
    },
    metrics,
    exports: readNames(found.exports).slice(0, MAX_EXPORTS),
  }
}

function readNames(names: unknown): string[] {
  if (!Array.isArray(names)) throw new AppFault('load', 'what the code offers cannot be read')
  return names.filter((name): name is string => typeof name === 'string')
}
