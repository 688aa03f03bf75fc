// @google-cloud/bigquery: tables, their fields, rows into them, and queries.
import { GoogleClient, type GoogleOptions } from './google.ts'
import { kit } from './kit.ts'

type Metadata = Record<string, unknown>
type Row = Record<string, unknown>
type InsertOptions = {
  raw?: boolean
  createInsertId?: boolean
  ignoreUnknownValues?: boolean
  skipInvalidRows?: boolean
}
type InsertAnswer = { insertErrors?: { index: number; errors: { message?: string; reason?: string }[] }[] }

export class BigQuery {
  readonly #client: GoogleClient

  constructor(options?: GoogleOptions) {
    this.#client = new GoogleClient(
      options,
      'https://bigquery.googleapis.com',
      'https://www.googleapis.com/auth/bigquery',
    )
  }

  dataset(id: string): Dataset {
    return new Dataset(this.#client, String(id))
  }

  /** The rows that come at once; values are text, as BigQuery has them. */
  async query(options: string | { query: string; params?: never }): Promise<[Row[]]> {
    const query = typeof options === 'string' ? options : options.query
    const path = `/bigquery/v2/projects/${encodeURIComponent(this.#client.project)}/queries`
    const answer = await this.#client.call<{
      schema?: { fields: { name: string }[] }
      rows?: { f: { v: unknown }[] }[]
    }>(path, { method: 'POST', json: { query, useLegacySql: false } })
    const names = (answer.schema?.fields ?? []).map(({ name }) => name)
    return [
      (answer.rows ?? []).map(({ f }) => Object.fromEntries(f.map(({ v }, index) => [names[index]!, v]))),
    ]
  }
}

class Dataset {
  constructor(
    private readonly client: GoogleClient,
    private readonly id: string,
  ) {}

  get path(): string {
    const { client, id } = this
    return `/bigquery/v2/projects/${encodeURIComponent(client.project)}/datasets/${encodeURIComponent(id)}`
  }

  table(id: string): Table {
    return new Table(this.client, this, String(id))
  }

  async createTable(tableId: string, options: Metadata = {}): Promise<[Table, Metadata]> {
    const tableReference = { projectId: this.client.project, datasetId: this.id, tableId }
    const json = { ...options, ...schemaOf(options.schema), tableReference }
    const made = await this.client.call<Metadata>(`${this.path}/tables`, { method: 'POST', json })
    return [this.table(tableId), made]
  }
}

class Table {
  constructor(
    private readonly client: GoogleClient,
    private readonly dataset: Dataset,
    readonly id: string,
  ) {}

  get #path(): string {
    return `${this.dataset.path}/tables/${encodeURIComponent(this.id)}`
  }

  async getMetadata(): Promise<[Metadata]> {
    return [await this.client.call<Metadata>(this.#path)]
  }

  async setMetadata(metadata: Metadata): Promise<[Metadata]> {
    const json = { ...metadata, ...schemaOf(metadata.schema) }
    return [await this.client.call<Metadata>(this.#path, { method: 'PATCH', json })]
  }

  async exists(): Promise<[boolean]> {
    try {
      await this.getMetadata()
      return [true]
    } catch (error) {
      if ((error as { code?: number }).code === 404) return [false]
      throw error
    }
  }

  async insert(given: Row | Row[], options: InsertOptions = {}): Promise<[InsertAnswer]> {
    const { raw = false, createInsertId = true, ignoreUnknownValues, skipInvalidRows } = options
    const rows = [given].flat().map((row) => {
      if (raw) return row
      return createInsertId ? { insertId: kit.crypto.randomUUID(), json: row } : { json: row }
    })
    const json = { rows, ignoreUnknownValues, skipInvalidRows }
    const answer = await this.client.call<InsertAnswer>(`${this.#path}/insertAll`, { method: 'POST', json })
    if (answer.insertErrors?.length) throw new PartialFailureError(answer.insertErrors)
    return [answer]
  }
}

class PartialFailureError extends Error {
  constructor(readonly errors: NonNullable<InsertAnswer['insertErrors']>) {
    const [first] = errors
    const why = first?.errors.map(({ message, reason }) => message ?? reason).join(', ')
    super(`A failure occurred during this request: row ${first?.index}: ${why}`)
    this.name = 'PartialFailureError'
  }
}

/** A bare list of fields, or `name:type, …` as text, is a schema too. */
function schemaOf(schema: unknown): { schema?: unknown } {
  if (schema === undefined) return {}
  if (Array.isArray(schema)) return { schema: { fields: schema } }
  if (typeof schema !== 'string') return { schema }
  const fields = schema.split(',').map((field) => {
    const [name = '', type = 'STRING'] = field.split(':').map((part) => part.trim())
    return { name, type: type.toUpperCase() }
  })
  return { schema: { fields } }
}
