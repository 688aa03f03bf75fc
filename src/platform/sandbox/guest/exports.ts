// Finds an app's functions: in what it exports, or, when it exports nothing at all, among its top-level functions.

export type Method = (...args: unknown[]) => unknown
type Names = Record<string, unknown>

export type Found = {
  methods: Record<string, Method>
  tasks: Record<string, Method>
  jobs: Record<string, Method>
  metrics: Record<string, 'sum' | 'max' | 'min'>
  exports: string[]
}

/** In the order in which they are shown. */
const METHODS = [
  'setupPlugin',
  'teardownPlugin',
  'exportEvents',
  'onEvent',
  'processEvent',
  'composeWebhook',
  'getSettings',
]

export function findExports(exported: unknown, replaced: unknown, bare: Names): Found {
  const places = [exported, defaultOf(exported), replaced, defaultOf(replaced)].filter(isHolder)
  const isEmpty = places.every((place) => Object.keys(place).length === 0)
  const from = isEmpty ? [bare] : places
  const find = (name: string) => from.find((place) => place[name] !== undefined)?.[name]

  return {
    methods: findMethods(find),
    tasks: pickFunctions(from, (name) => name.startsWith('runEvery')),
    jobs: pickFunctions([find('jobs')].filter(isHolder), () => true),
    metrics: readMetrics(find('metrics')),
    exports: namesIn(places),
  }
}

/** What a default export holds stands for it. */
function namesIn(places: Names[]): string[] {
  const names = places.flatMap((place) =>
    Object.keys(place).filter((name) => name !== 'default' || typeof place[name] === 'function'),
  )
  return [...new Set(names)]
}

function findMethods(find: (name: string) => unknown): Record<string, Method> {
  const methods: Record<string, Method> = Object.create(null)
  const exportEvents = find('exportEvents')
  const processEventBatch = find('processEventBatch')
  for (const name of METHODS) {
    const method = find(name)
    if (typeof method === 'function') methods[name] = method as Method
    else if (name === 'onEvent' && typeof exportEvents === 'function') {
      methods.onEvent = (event, meta) => exportEvents([event], meta)
    } else if (name === 'processEvent' && typeof processEventBatch === 'function') {
      methods.processEvent = (event, meta) => firstOf(processEventBatch([event], meta))
    }
  }
  return methods
}

function firstOf(batch: unknown): unknown {
  if (batch instanceof Promise) return batch.then(firstOf)
  return Array.isArray(batch) ? batch[0] : batch
}

function pickFunctions(places: Names[], isWanted: (name: string) => boolean): Record<string, Method> {
  const picked: Record<string, Method> = Object.create(null)
  for (const place of places) {
    for (const name of Object.keys(place)) {
      const value = place[name]
      if (isWanted(name) && typeof value === 'function') picked[name] ??= value as Method
    }
  }
  return picked
}

function readMetrics(declared: unknown): Found['metrics'] {
  const metrics: Found['metrics'] = Object.create(null)
  if (!isHolder(declared)) return metrics
  for (const name of Object.keys(declared)) {
    const kind = declared[name]
    if (kind !== 'sum' && kind !== 'max' && kind !== 'min') {
      throw new Error(`the metric ${name} is of the kind ${String(kind)}: sum, max and min are possible`)
    }
    metrics[name] = kind
  }
  return metrics
}

const defaultOf = (value: unknown) => (isHolder(value) ? value.default : undefined)

function isHolder(value: unknown): value is Names {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
