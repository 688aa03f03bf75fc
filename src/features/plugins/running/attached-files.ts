// Files that belong to the settings of apps. A server can have gigabytes of them, so none stays with its app in memory: they
// are read when the app is called, for one app at a time, and kept only as long as there is room.
import {
  AppFault,
  type Attachment,
  type Sandbox,
  type SandboxedApp,
} from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import { openAttachments } from '../configs/settings.ts'
import { listAttachments } from './queries.ts'

/** An app without its files: `attachments` is empty. */
export type StoredApp = SandboxedApp & { has_files: boolean }

/** The sandbox, for apps without their files. */
export type AppSandbox = {
  [Method in 'call' | 'prepare' | 'processEvents']: (
    app: StoredApp,
    ...rest: Parameters<Sandbox[Method]> extends [unknown, ...infer Rest] ? Rest : never
  ) => ReturnType<Sandbox[Method]>
} & Pick<Sandbox, 'dispose'>

type FileServices = Pick<Services, 'db' | 'secrets'>
type Files = Record<string, Attachment>
/** `characters` is 0 while they are read. */
type Entry = { version: string; files: Promise<Files>; characters: number }

/** Characters of base64, for all apps together: an app that is called a hundred times a second is not read as often. */
const MAX_KEPT = 64 * 1024 * 1024

export function openAppSandbox(services: FileServices & Pick<Services, 'sandbox'>): AppSandbox {
  const { sandbox } = services
  const attached = new AttachedFiles(services)
  const whole = async (app: StoredApp) =>
    app.has_files ? { ...app, attachments: await attached.of(app) } : app
  return {
    call: async (app, ...rest) => sandbox.call(await whole(app), ...rest),
    prepare: async (app, ...rest) => sandbox.prepare(await whole(app), ...rest),
    processEvents: async (app, ...rest) => sandbox.processEvents(await whole(app), ...rest),
    async dispose(id) {
      attached.forget(id)
      await sandbox.dispose(id)
    },
  }
}

export class AttachedFiles {
  /** By the id of the config; the one that was used last is the last. */
  readonly #entries = new Map<number, Entry>()
  #reading: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly services: FileServices,
    private readonly max_kept = MAX_KEPT,
  ) {}

  /** Throws AppFault. */
  of({ id, version }: Pick<StoredApp, 'id' | 'version'>): Promise<Files> {
    const known = this.#entries.get(id)
    const entry = known?.version === version ? known : this.#enter(id, version)
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    return entry.files
  }

  /** Whoever waits for them hears that the app is gone. */
  forget(id: number): void {
    this.#entries.delete(id)
  }

  #enter(id: number, version: string): Entry {
    const files = this.#reading.then(() => this.#read(id, entry))
    const entry: Entry = { version, files, characters: 0 }
    this.#reading = files.catch(() => {
      if (this.#entries.get(id) === entry) this.#entries.delete(id)
    })
    return entry
  }

  async #read(id: number, entry: Entry): Promise<Files> {
    const rows = await listAttachments(this.services.db, id)
    if (this.#entries.get(id) !== entry) throw new AppFault('gone', 'the app was taken away')
    const files = this.#open(rows)
    entry.characters = Object.values(files).reduce((sum, { contents }) => sum + contents.length, 0)
    this.#makeRoom(entry)
    return files
  }

  #open(rows: Parameters<typeof openAttachments>[1]): Files {
    try {
      return openAttachments(this.services.secrets, rows)
    } catch {
      throw new AppFault(
        'load',
        'The attachments cannot be opened: they were sealed under another SECRET_KEY.',
      )
    }
  }

  #makeRoom(newest: Entry): void {
    let kept = [...this.#entries.values()].reduce((sum, { characters }) => sum + characters, 0)
    for (const [id, entry] of this.#entries) {
      if (kept <= this.max_kept) return
      if (entry === newest || entry.characters === 0) continue
      this.#entries.delete(id)
      kept -= entry.characters
    }
  }
}
