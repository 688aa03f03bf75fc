// The tables of a project as everybody reads them: views of its files.
import { VARCHAR, type DuckDBConnection } from '@duckdb/node-api'
import { join } from 'node:path'
import type { AskedProperty } from '../../event-store.ts'
import { tablesOf } from '../../layout.ts'
import { EVENT_NAMES, partsOf, selectAsked, selectExported } from './columns.ts'
import { copiesView } from './copies.ts'
import { EVENT_COLUMNS } from './events.ts'
import type { Manifest } from './manifest.ts'
import { readParquet } from './parquet.ts'
import { selectNone } from './table.ts'
import { EMPTY_MODE } from './vectors.ts'

type View = { name: string; sql: string }

function viewsOf(folder: string, project_id: number, { segments, copies }: Manifest): View[] {
  const tables = tablesOf(project_id)
  const paths = (files: readonly { file: string }[]) => files.map(({ file }) => join(folder, file))
  const events =
    segments.length === 0
      ? selectNone(EVENT_COLUMNS)
      : `SELECT ${EVENT_NAMES} FROM ${readParquet(paths(segments))} WHERE person_mode < ${EMPTY_MODE}`
  return [
    { name: tables.events, sql: events },
    { name: tables.persons, sql: copiesView('persons', paths(copies.persons)) },
    { name: tables.distinct_ids, sql: copiesView('distinct_ids', paths(copies.distinct_ids)) },
    { name: tables.groups, sql: copiesView('groups', paths(copies.groups)) },
  ]
}

/** Events as one question reads them. */
function askedView(folder: string, { segments }: Manifest, asked: readonly AskedProperty[]): string {
  const properties = asked.map(({ property }) => property)
  return segments.length > 0
    ? selectAsked(partsOf(folder, segments, properties), asked)
    : selectNothing(asked)
}

/** Events as an export reads them. */
export function exportedView(
  folder: string,
  { segments }: Manifest,
  asked: readonly AskedProperty[],
): string {
  return segments.length > 0 ? selectExported(folder, segments, asked) : selectNothing(asked)
}

const selectNothing = (asked: readonly AskedProperty[]) =>
  selectNone([...EVENT_COLUMNS, ...asked.map(({ column }) => [column, VARCHAR] as const)])

/** The views that are there now, on one connection; a view is made anew when the project has other files. */
export class Views {
  readonly #connection: DuckDBConnection
  readonly #shown = new Map<number, Manifest>()
  /** One change after another: the views of a project are of the same list. */
  #changes: Promise<unknown> = Promise.resolve()

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  show(folder: string, project_id: number, manifest: Manifest): Promise<void> {
    return this.#inTurn(() => this.#show(folder, project_id, manifest))
  }

  /** What the project has, once it is shown. */
  manifest(project_id: number): Manifest {
    return this.#shown.get(project_id)!
  }

  /** For the next statement: the project is shown, and one statement runs at a time. */
  ask(folder: string, project_id: number, asked: readonly AskedProperty[]): Promise<void> {
    return this.#inTurn(async () => {
      const sql = askedView(folder, this.manifest(project_id), asked)
      await this.#connection.run(`CREATE OR REPLACE VIEW ${tablesOf(project_id).asked} AS ${sql}`)
    })
  }

  drop(project_id: number): Promise<void> {
    return this.#inTurn(() => this.#drop(project_id))
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const change = this.#changes.then(work)
    this.#changes = change.catch(() => undefined)
    return change
  }

  async #show(folder: string, project_id: number, manifest: Manifest): Promise<void> {
    if (this.#shown.get(project_id)?.version === manifest.version) return
    for (const { name, sql } of viewsOf(folder, project_id, manifest)) {
      await this.#connection.run(`CREATE OR REPLACE VIEW ${name} AS ${sql}`)
    }
    this.#shown.delete(project_id)
    this.#shown.set(project_id, manifest)
    const [oldest] = this.#shown.keys()
    if (this.#shown.size > MAX_SHOWN) await this.#drop(oldest!)
  }

  async #drop(project_id: number): Promise<void> {
    if (!this.#shown.delete(project_id)) return
    for (const name of Object.values(tablesOf(project_id))) {
      await this.#connection.run(`DROP VIEW IF EXISTS ${name}`)
    }
  }
}

/** Each takes a little memory. */
const MAX_SHOWN = 500
