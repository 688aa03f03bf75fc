// The files that somebody is writing for a project. Should that fail they go: a disk that is full stays so otherwise.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { segmentFiles } from './manifest.ts'

export class NewFiles {
  readonly folder: string
  readonly #names: string[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  name(): string {
    const file = `${randomUUID()}.parquet`
    this.#names.push(file)
    return file
  }

  /** Without those that are on the project's list. */
  remove(listed: ReadonlySet<string>): void {
    for (const file of this.#names
      .filter((name) => !listed.has(name))
      .flatMap((name) => segmentFiles({ file: name })))
      rmSync(join(this.folder, file), { force: true })
  }
}
