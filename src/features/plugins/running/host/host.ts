// What an app may ask for. The sandbox has looked at every argument and at how often it is asked; an app reads nothing of
// our own errors.
import type { Host } from '../../../../platform/sandbox/sandbox.ts'
import { isParentGone } from '../../../../platform/db/database.ts'
import type { Services } from '../../../../platform/services.ts'
import type { PluginLogs } from '../../logs/plugin-logs.ts'
import { AppDatabases } from './app-databases.ts'
import { fetchForApp } from './app-fetch.ts'
import type { AppFacts } from '../build-apps.ts'
import { CapturedInACircle, type Captures } from './captures.ts'
import { HostError } from './host-error.ts'
import { addJob } from '../job-queries.ts'
import type { Watch } from '../watch.ts'
import type { MetricSums } from './metric-sums.ts'
import type { ProjectApi } from './project-api.ts'
import { AppStorage } from './storage.ts'

const MAX_JOBS_WAITING = 1_000

export type HostParts = {
  services: Pick<Services, 'db' | 'outbound' | 'log' | 'now' | 'settings'>
  logs: PluginLogs
  captures: Captures
  sums: MetricSums
  watch: Watch
  api: ProjectApi
}

export function openHost({ services, logs, captures, sums, watch, api }: HostParts, app: AppFacts): Host {
  const { db, outbound, now } = services
  const storage = new AppStorage(db, app)
  const databases = new AppDatabases(outbound, services.settings.allow_plaintext)
  const safely = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      // Whatever the app makes of the refusal.
      if (error instanceof CapturedInACircle) logs.add(app, 'SYSTEM', 'WARN', error.message)
      if (error instanceof HostError) throw error
      if (isParentGone(error)) throw new HostError('This app was removed.')
      const err = app.redactor.cleanError(error)
      services.log.warn({ err, plugin_config_id: app.config_id }, 'plugins: an app could not run')
      throw new HostError('This cannot be done at the moment.')
    }
  }
  return {
    log: (source, type, message) => logs.add(app, source, type, message),
    fetch: (request, signal) => safely(() => fetchForApp(outbound, request, signal)),
    sqlOpen: (address, signal) => safely(() => databases.open(address, signal)),
    sqlQuery: (connection, query, signal) => safely(() => databases.query(connection, query, signal)),
    sqlClose: (connection) => safely(() => databases.close(connection)),
    api: (request) => safely(() => api.call(app, request)),
    storageGet: (key) => safely(() => storage.get(key)),
    storageSet: (key, value) => safely(() => storage.set(key, value)),
    storageDelete: (key) => safely(() => storage.delete(key)),
    storageIncrement: (key, by) => safely(() => storage.increment(key, by)),
    storageInit: (key, value) => safely(() => storage.init(key, value)),
    capture: (event, properties, hops) => safely(() => captures.capture(app, event, properties, hops)),
    enqueueJob: (name, payload, run_at) =>
      safely(async () => {
        const job = { name, payload: JSON.stringify(payload ?? null), run_at }
        const isAdded = await addJob(db, app, job, MAX_JOBS_WAITING, now())
        if (!isAdded) throw new HostError('Too many jobs of this app are waiting: 1000 at most.')
      }),
    metric: (name, kind, value) => sums.add(app, name, kind, value),
    stopped: (fault) => watch.stopped(app.config_id, fault),
  }
}
