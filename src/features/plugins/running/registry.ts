// Which apps are switched on, by project. Whatever was edited is built anew, and nothing else.
import { groupBy } from '../../../lib/group-by.ts'
import type { Host } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import { EditQueue } from './edit-queue.ts'
import { buildApps, type AppFacts } from './build-apps.ts'
import { listEnabledConfigs, listStamps, type Scope } from './queries.ts'
import type { RunningApp } from './running-app.ts'
import type { Watch } from './watch.ts'

type OfProject = { all: readonly RunningApp[]; transforming: readonly RunningApp[] }

const NONE: OfProject = { all: [], transforming: [] }

/** Null for what has nothing to run here. */
type Entry = { plugin_id: number; project_id: number; stamp: string; app: RunningApp | null }

export class Registry {
  readonly #services: Services
  readonly #watch: Watch
  readonly #openHost: (facts: AppFacts) => Host
  readonly #entries = new Map<number, Entry>()
  #of_projects = new Map<number, OfProject>()
  #list: readonly RunningApp[] = []
  readonly #edits = new EditQueue()
  #working: Promise<void> = Promise.resolve()
  readonly #leaving = new Set<Promise<void>>()
  readonly #listening: (() => void)[]

  constructor(services: Services, watch: Watch, openHost: (facts: AppFacts) => Host) {
    this.#services = services
    this.#watch = watch
    this.#openHost = openHost
    const { changes } = services
    this.#listening = [
      changes.listen('plugin', (plugin_id) => {
        const scope = plugin_id === null ? 'all' : { plugin_id }
        this.#touch(scope, this.#projectsOf(scope))
      }),
      changes.listen('plugin-config', (config_id, project_id) => {
        const scope = config_id === null ? 'all' : { config_id }
        this.#touch(scope, project_id === undefined ? this.#projectsOf(scope) : [project_id])
      }),
    ]
  }

  list(): readonly RunningApp[] {
    return this.#list
  }

  get(config_id: number): RunningApp | undefined {
    const app = this.#entries.get(config_id)?.app
    return app && isRunnable(app) ? app : undefined
  }

  /** Those with an app that is switched on. */
  projects(): Iterable<number> {
    return this.#of_projects.keys()
  }

  ofProject(project_id: number): readonly RunningApp[] {
    return (this.#of_projects.get(project_id) ?? NONE).all
  }

  /** Broken ones too: their events must not go past them. */
  transforming(project_id: number): readonly RunningApp[] {
    return (this.#of_projects.get(project_id) ?? NONE).transforming
  }

  refresh(): Promise<void> {
    return this.#inTurn(() => this.#look('all', 'changed'))
  }

  /** An edit of this project was told of, and is not in force yet. */
  hasEdits(project_id: number): boolean {
    return this.#edits.concern(project_id)
  }

  /** Until the edits of this project that were told of are in force; other projects' edits come after them. */
  editsInForce(project_id: number): Promise<void> {
    return this.#edits.done(project_id)
  }

  /** What could not be looked at when it was told of stays until it can. */
  async applyEdits(): Promise<void> {
    if (!this.#edits.isEmpty())
      await this.#inTurn(() => this.#edits.work((scope) => this.#look(scope, 'edited')))
  }

  async idle(): Promise<void> {
    await this.#working
    await Promise.all(this.#leaving)
  }

  stopListening(): void {
    for (const stop of this.#listening) stop()
  }

  #touch(scope: Scope, projects: readonly number[]): void {
    this.#edits.add(scope, projects)
    this.applyEdits().catch((error: unknown) =>
      this.#services.log.warn({ err: error }, 'plugins: an edit is applied later'),
    )
  }

  /** One look at a time: two could leave behind what the older one saw. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#working.then(work)
    this.#working = done.catch(() => undefined)
    return done
  }

  #projectsOf(scope: Scope): number[] {
    return [...this.#entries].flatMap(([id, entry]) => (isIn(scope, id, entry) ? [entry.project_id] : []))
  }

  /** `edited`: all in scope are built anew; otherwise those whose stamp differs. */
  async #look(scope: Scope, which: 'edited' | 'changed'): Promise<void> {
    const { db } = this.#services
    const stamps = new Map((await listStamps(db, scope)).map(({ id, stamp }) => [id, stamp]))
    for (const [id, entry] of this.#entries) if (isIn(scope, id, entry) && !stamps.has(id)) this.#remove(id)
    const ids = [...stamps]
      .filter(([id, stamp]) => which === 'edited' || this.#entries.get(id)?.stamp !== stamp)
      .map(([id]) => id)
    const isStart = this.#entries.size === 0 && scope === 'all'
    if (ids.length > 0) await this.#build(ids)
    this.#arrange()
    // At the start there may be thousands; see PluginRuntime.load.
    if (!isStart) for (const id of ids) void this.#watch.prepare(id)
  }

  async #build(ids: readonly number[]): Promise<void> {
    const configs = await listEnabledConfigs(this.#services.db, ids)
    for (const { config, app } of await buildApps(this.#services, configs, this.#openHost)) {
      const { id, plugin_id, project_id, stamp } = config
      this.#entries.set(id, { plugin_id, project_id, stamp, app })
      if (app && isRunnable(app)) this.#watch.enter(app, config.error !== null)
      else this.#leave(id)
      if (app?.code.kind === 'broken') this.#watch.cannotLoad(app, app.code.reason)
    }
  }

  #remove(id: number): void {
    this.#entries.delete(id)
    this.#leave(id)
  }

  #leave(id: number): void {
    const done = this.#watch
      .leave(id)
      .catch((error: unknown) =>
        this.#services.log.warn({ err: error }, 'plugins: an app did not go quietly'),
      )
      .finally(() => this.#leaving.delete(done))
    this.#leaving.add(done)
  }

  #arrange(): void {
    const apps = [...this.#entries.values()].flatMap(({ app }) => app ?? [])
    const sorted = apps.toSorted(
      (a, b) => a.project_id - b.project_id || a.order - b.order || a.config_id - b.config_id,
    )
    this.#list = sorted.filter(isRunnable)
    this.#of_projects = new Map(
      [...groupBy(sorted, ({ project_id }) => project_id)].map(([project_id, all]) => [
        project_id,
        {
          all: all.filter(isRunnable),
          transforming: all.filter(({ methods }) => methods.has('processEvent')),
        },
      ]),
    )
  }
}

const isRunnable = ({ code }: RunningApp) => code.kind !== 'broken'

function isIn(scope: Scope, id: number, { plugin_id }: Entry): boolean {
  if (scope === 'all') return true
  return 'config_id' in scope ? scope.config_id === id : scope.plugin_id === plugin_id
}
