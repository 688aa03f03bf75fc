// What the database is told of faults, in the background: whoever runs into one goes on at once.
import { storableText } from '../../../lib/storable-text.ts'
import type { Services } from '../../../platform/services.ts'
import { systemActor } from '../../activity-log/record.ts'
import { recordConfigActivity } from '../activity.ts'
import { enqueueFaultEmails } from './fault-email.ts'
import { clearPassingError, setConfigError, setHasRemoved, setPassingError, switchOff } from './queries.ts'
import type { RunningApp } from './running-app.ts'

export type FaultyApp = Pick<
  RunningApp,
  'config_id' | 'project_id' | 'organization_id' | 'plugin_id' | 'plugin_name' | 'redactor'
>

type RecordServices = Pick<Services, 'db' | 'jobs' | 'mailer' | 'changes' | 'log' | 'now'>

const MAX_MESSAGE = 1_000
const MAX_READ = 10_000

export class FaultRecords {
  readonly #services: RecordServices
  readonly #writing = new Set<Promise<void>>()

  constructor(services: RecordServices) {
    this.#services = services
  }

  /** It rests until somebody mends it, or for a while. */
  note(app: FaultyApp, message: string): void {
    const { db, now } = this.#services
    this.#write(() =>
      db.transaction(async (tx) => {
        await setConfigError(tx, app.project_id, app.config_id, errorOf(app, message, now()))
        await enqueueFaultEmails(this.#services, tx, app, 'at rest', now())
      }),
    )
  }

  clear(app: FaultyApp): void {
    this.#write(() => setConfigError(this.#services.db, app.project_id, app.config_id, null))
  }

  /** Something passes by itself; `isOver` when it has. */
  lasts(app: FaultyApp, message: string): void {
    const { db, now } = this.#services
    this.#write(() => setPassingError(db, app.project_id, app.config_id, errorOf(app, message, now())))
  }

  isOver(app: FaultyApp): void {
    this.#write(() => clearPassingError(this.#services.db, app.project_id, app.config_id))
  }

  /** From now on its events wait for it, in every process. */
  hasRemoved({ project_id, config_id }: FaultyApp): void {
    const { db, changes } = this.#services
    this.#write(() =>
      db.transaction(async (tx) => {
        if (await setHasRemoved(tx, project_id, config_id))
          await changes.tell(tx, 'plugin-config', config_id, project_id)
      }),
    )
  }

  switchOff(app: FaultyApp, message: string): void {
    const { db, changes, now } = this.#services
    this.#write(() =>
      db.transaction(async (tx) => {
        const { project_id, config_id: id, plugin_id, plugin_name: name } = app
        if (!(await switchOff(tx, project_id, id, errorOf(app, message, now()), now()))) return
        const config = { id, project_id, plugin_id, name }
        await recordConfigActivity(tx, systemActor(now()), app.organization_id, config, {
          activity: 'disabled',
        })
        await enqueueFaultEmails(this.#services, tx, app, 'switched off', now())
        await changes.tell(tx, 'plugin-config', id, project_id)
      }),
    )
  }

  async idle(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing)
  }

  #write(work: () => Promise<void>): void {
    const done = work()
      .catch((error: unknown) =>
        this.#services.log.warn({ err: error }, 'plugins: a fault could not be written down'),
      )
      .finally(() => this.#writing.delete(done))
    this.#writing.add(done)
  }
}

function errorOf({ redactor }: FaultyApp, message: string, now: Date): { message: string; time: string } {
  return {
    message: storableText(redactor.clean(message.slice(0, MAX_READ), message.length > MAX_READ), MAX_MESSAGE),
    time: now.toISOString(),
  }
}
