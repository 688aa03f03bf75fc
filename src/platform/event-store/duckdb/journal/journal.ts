// Where an event becomes durable: one append and one sync for the writes of all projects together. Positions and times
// of arrival are assigned here. Runs in its own thread, where waiting for the disk blocks nobody.
import { join } from 'node:path'
import type { Written } from '../../event-store.ts'
import { lastPosition, projectFolder, readManifest, type Manifest } from '../segments/manifest.ts'
import { JournalFiles, type Damage } from './files.ts'
import { OpenLookUps } from './open-look-ups.ts'
import type { FoundRecord, RecordHead, SectionHead } from './record.ts'
import { findRepeats, suspectsAmong, type Candidate, type Known, type Suspects } from './repeats.ts'
import { bufferOf, type EncodedWrite } from './section.ts'
import { Tail, type Waiting } from './tail.ts'
import { LIMITS, WaitingFiles, type JournalLimits } from './waiting-files.ts'

export type Appended = {
  written: Written[]
  /** Projects whose events should be folded now. */
  due: number[]
  /** Too much is waiting: the next writes should wait until the due projects are folded. */
  isFull: boolean
}

/** Nothing was written: files may have these. */
export type NotAppended = { suspects: Suspects[] }

/** Sections to be folded, all up to the record `upto`. */
export type ToFold = { upto: number; sections: readonly (Waiting & { path: string })[] }

const FOLD_EVENTS = 20_480
const FOLD_BYTES = 32 * 1024 * 1024

export class Journal {
  readonly #folder: string
  readonly #limits: JournalLimits
  readonly #files: JournalFiles
  readonly damages: readonly Damage[]
  readonly look_ups = new OpenLookUps()
  readonly #tails = new Map<number, Tail>()
  /** Manifests read so far, by project. */
  readonly #manifests = new Map<number, Manifest>()
  readonly #deleted = new Set<number>()
  readonly #waiting_files = new WaitingFiles()
  #told_file = 0
  #record = 0
  #inserted_at = 0n
  #copies_position = 0n

  private constructor(folder: string, limits: JournalLimits) {
    this.#folder = folder
    this.#limits = limits
    const { files, damages } = JournalFiles.open(join(folder, 'journal'), (found, file, content) =>
      this.#recover(found, file, content),
    )
    this.#files = files
    this.damages = damages
    files.begin()
    this.#makeRoom()
  }

  static open(folder: string, limits = LIMITS): Journal {
    return new Journal(folder, limits)
  }

  /** Projects that have something to be folded. */
  get waiting(): number[] {
    return [...this.#tails.keys()]
  }

  get copies_position(): bigint {
    return this.#copies_position
  }

  /** The last time of arrival that was given, in microseconds. */
  get inserted_at(): bigint {
    return this.#inserted_at
  }

  get deleted(): number[] {
    return [...this.#deleted]
  }

  /** Writes nothing while files may already hold some of the events, and nobody has looked for these there. */
  append(
    writes: readonly EncodedWrite[],
    now: bigint,
    copies_position: bigint | null,
  ): Appended | NotAppended {
    const kept = writes.filter(({ project_id }) => !this.#deleted.has(project_id))
    const checked = kept.map((write) => {
      const { repeats, rest } = findRepeats(write, this.#knownOf(write.project_id))
      return { repeats, suspects: this.#suspectsAmong(write.project_id, rest) }
    })
    const suspects = checked.map((each) => each.suspects).filter(({ places }) => places.length > 0)
    if (suspects.length > 0) return { suspects }
    const heads = kept.map(({ project_id, count, bytes }, index) => ({
      project_id,
      count,
      seq_from: this.lastPosition(project_id),
      repeats: checked[index]!.repeats,
      bytes: bytes.length,
    }))
    this.#write({ inserted_at: now, copies_position, sections: heads }, kept.map(bufferOf))
    return {
      written: heads.map((head) => this.#written(head)),
      due: this.#due(heads),
      isFull: this.#isFull,
    }
  }

  /** After this, no event gets a time of arrival before `time`. */
  raiseTime(time: bigint): void {
    if (time > this.#inserted_at) this.#write({ inserted_at: time })
  }

  lastPosition(project_id: number): number {
    return this.#tails.get(project_id)?.last_seq ?? lastPosition(this.#manifestOf(project_id))
  }

  /** Takes the project's waiting sections to be folded; null when there are none. */
  seal(project_id: number): ToFold | null {
    const sections = this.#tails.get(project_id)?.seal() ?? []
    if (sections.length === 0) return null
    return {
      upto: sections.at(-1)!.record,
      sections: sections.map((section) => ({ ...section, path: this.#files.path(section.file) })),
    }
  }

  folded(project_id: number, manifest: Manifest): void {
    this.replaced(project_id, manifest)
    const tail = this.#tails.get(project_id)
    if (!tail) return
    const { sections, ids } = tail.forget()
    this.#waiting_files.leave(sections)
    this.look_ups.wasFolded(project_id, ids)
    if (tail.isEmpty) this.#tails.delete(project_id)
    this.#removeFolded()
  }

  /** The project's files were replaced by others with the same events. */
  replaced(project_id: number, manifest: Manifest): void {
    if (manifest.version > this.#manifestOf(project_id).version) this.#manifests.set(project_id, manifest)
  }

  deleteProject(project_id: number): void {
    if (!this.#deleted.has(project_id)) this.#write({ deleted: [project_id] })
    this.#forget(project_id)
    this.#removeFolded()
  }

  close(): void {
    this.#files.close()
  }

  #recover({ head, body }: FoundRecord, file: number, content: Buffer): void {
    this.#record = head.number
    this.#inserted_at = head.inserted_at
    this.#copies_position = head.copies_position
    for (const id of head.deleted) this.#forget(id)
    this.#keep(head, { file, body }, (from, bytes) => content.subarray(from, from + bytes))
  }

  #forget(project_id: number): void {
    this.#deleted.add(project_id)
    const tail = this.#tails.get(project_id)
    this.#tails.delete(project_id)
    this.#manifests.delete(project_id)
    if (tail) this.#waiting_files.leave(tail.sections)
  }

  #write(
    change: Partial<Pick<RecordHead, 'inserted_at' | 'deleted' | 'sections'>> & {
      copies_position?: bigint | null
    },
    sections: readonly Buffer[] = [],
  ): void {
    this.#makeRoom()
    const { inserted_at = 0n, copies_position, deleted = [], sections: heads = [] } = change
    const head: RecordHead = {
      number: this.#record + 1,
      inserted_at: inserted_at > this.#inserted_at ? inserted_at : this.#inserted_at,
      copies_position: copies_position ?? this.#copies_position,
      deleted,
      sections: heads,
    }
    const place = this.#files.append(head, sections)
    this.#record = head.number
    this.#inserted_at = head.inserted_at
    this.#copies_position = head.copies_position
    const by_place = new Map<number, Buffer>()
    let from = place.body
    for (const section of sections) {
      by_place.set(from, section)
      from += section.length
    }
    this.#keep(head, place, (at) => by_place.get(at)!)
  }

  /** Adds the record's sections to the tails of their projects, unless they are folded or deleted. */
  #keep(
    head: RecordHead,
    { file, body }: { file: number; body: number },
    sectionAt: (from: number, bytes: number) => Buffer,
  ): void {
    let offset = body
    for (const { project_id, count, seq_from, repeats, bytes } of head.sections) {
      const isFolded = head.number <= this.#manifestOf(project_id).folded
      if (!isFolded && !this.#deleted.has(project_id)) {
        const waiting = { record: head.number, file, offset, bytes, count, seq_from, repeats }
        this.#tailOf(project_id).add({ ...waiting, inserted_at: head.inserted_at }, sectionAt(offset, bytes))
        this.#waiting_files.addSection(file)
      }
      offset += bytes
    }
  }

  #tailOf(project_id: number): Tail {
    let tail = this.#tails.get(project_id)
    if (!tail) {
      tail = new Tail(lastPosition(this.#manifestOf(project_id)))
      this.#tails.set(project_id, tail)
    }
    return tail
  }

  #manifestOf(project_id: number): Manifest {
    let manifest = this.#manifests.get(project_id)
    if (!manifest) this.#manifests.set(project_id, (manifest = readManifest(this.#folder, project_id)))
    return manifest
  }

  #knownOf(project_id: number): Known {
    const tail = this.#tails.get(project_id)
    const { wasFolded, isAbsent } = this.look_ups.known(project_id)
    const isStored = (id: string, time: bigint) => tail?.has(id, time) || wasFolded(id, time)
    return { isStored, isAbsent }
  }

  #suspectsAmong(project_id: number, events: readonly Candidate[]): Suspects {
    const folder = projectFolder(this.#folder, project_id)
    const suspects = suspectsAmong(folder, this.#manifestOf(project_id), events)
    return { project_id, places: suspects.map(({ place }) => place) }
  }

  #written({ project_id, count, seq_from, repeats }: SectionHead): Written {
    const stored = count - repeats.length
    return { project_id, stored, last_seq: seq_from + stored, inserted_at: this.#inserted_at }
  }

  #due(heads: readonly SectionHead[]): number[] {
    const due = new Set<number>()
    for (const { project_id } of heads) {
      const tail = this.#tails.get(project_id)!
      if (tail.events >= FOLD_EVENTS || tail.bytes >= FOLD_BYTES) due.add(project_id)
    }
    if (this.#waiting_files.count > this.#limits.max_files) for (const id of this.#inOldestFile()) due.add(id)
    return [...due]
  }

  /** Named once for each file, as there may be thousands; and again as long as writes wait for them. */
  #inOldestFile(): number[] {
    const oldest = this.#waiting_files.oldest
    if (oldest === this.#told_file && !this.#isFull) return []
    this.#told_file = oldest
    return [...this.#tails].filter(([, tail]) => tail.first_file === oldest).map(([id]) => id)
  }

  get #isFull(): boolean {
    return this.#waiting_files.count > this.#limits.too_many_files
  }

  /** Not while files are still being read: what comes later in one of them may have to wait. */
  #removeFolded(): void {
    for (const file of this.#files.older) if (!this.#waiting_files.has(file)) this.#files.remove(file)
  }

  /** Starts a new file when the current one is full. Its first record repeats what must outlast the older files. */
  #makeRoom(): void {
    if (this.#files.bytes >= this.#limits.file_bytes) this.#files.begin()
    if (this.#files.bytes > 0) return
    const [inserted_at, copies_position] = [this.#inserted_at, this.#copies_position]
    const number = this.#record + 1
    this.#files.append(
      { number, inserted_at, copies_position, deleted: [...this.#deleted], sections: [] },
      [],
    )
    this.#record = number
    this.#removeFolded()
  }
}
