// pg: connections to a PostgreSQL or Redshift. The connection itself is the host's.
import { answered } from './answered.ts'
import { kit } from './kit.ts'

type Config = {
  connectionString?: string
  user?: string
  password?: string
  host?: string
  port?: number | string
  database?: string
  ssl?: boolean | { rejectUnauthorized?: boolean }
}
type Query = { text: string; values?: unknown[] }
type Answer = {
  command: string
  count: number | null
  fields: { name: string; type: number }[]
  rows: (string | null)[][]
}
type Row = Record<string, unknown>
type Result = {
  command: string
  rowCount: number | null
  rows: Row[]
  fields: { name: string; dataTypeID: number }[]
}

export class Client {
  #connection: Promise<number> | null = null
  readonly #config: Config

  constructor(config: string | Config = {}) {
    this.#config = typeof config === 'string' ? { connectionString: config } : config
  }

  connect(callback?: unknown) {
    this.#connection ??= kit.request('sqlOpen', addressOf(this.#config)) as Promise<number>
    return answered(
      this.#connection.then(() => undefined),
      callback,
    )
  }

  query(query: string | Query, values?: unknown, callback?: unknown) {
    const text = typeof query === 'string' ? query : query.text
    const given = Array.isArray(values) ? values : typeof query === 'string' ? [] : (query.values ?? [])
    return answered(this.#run(text, given), typeof values === 'function' ? values : callback)
  }

  end(callback?: unknown) {
    const connection = this.#connection
    this.#connection = null
    // One that never came about need not be ended.
    const ended = connection?.then(
      (id) => kit.request('sqlClose', id),
      () => undefined,
    )
    return answered(
      Promise.resolve(ended).then(() => undefined),
      callback,
    )
  }

  /** Losing the connection shows in the statement that it hits. */
  on(): this {
    return this
  }

  async #run(text: string, values: unknown[]): Promise<Result> {
    if (!this.#connection) throw new Error('Client is not connected: call connect() first')
    const id = await this.#connection
    const given = JSON.stringify(values.map(valueOf))
    return readResult((await kit.request('sqlQuery', id, given, String(text))) as Answer)
  }
}

export class Pool {
  constructor(private readonly config: string | Config = {}) {}

  async connect(): Promise<Client & { release(): Promise<void> }> {
    const client = new Client(this.config)
    await client.connect()
    return Object.assign(client, { release: async () => client.end() })
  }

  async query(query: string | Query, values?: unknown[]): Promise<Result> {
    const client = await this.connect()
    try {
      return (await client.query(query, values))!
    } finally {
      await client.release()
    }
  }

  async end(): Promise<void> {}

  on(): this {
    return this
  }
}

function addressOf({ connectionString, user, password, host, port, database, ssl }: Config): object {
  const isTls = ssl === true || (typeof ssl === 'object' && ssl !== null)
  return {
    url: connectionString ?? null,
    user: user ?? null,
    password: password === undefined || password === null ? null : String(password),
    host: host ?? null,
    port: port === undefined ? null : Number(port),
    database: database ?? null,
    tls: ssl === undefined ? null : isTls,
    is_checked: !(typeof ssl === 'object' && ssl?.rejectUnauthorized === false),
  }
}

function valueOf(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return String(value)
  if (ArrayBuffer.isView(value)) return `\\x${kit.Buffer.from(value).toString('hex')}`
  if (Array.isArray(value)) return value.map(valueOf)
  return typeof value === 'object' ? JSON.stringify(value) : value
}

/** By the numbers PostgreSQL has for its types. What is not named here stays text, as in the driver. */
const READ: Record<number, (text: string) => unknown> = {
  16: (text) => text === 't',
  20: (text) => text,
  21: Number,
  23: Number,
  26: Number,
  114: (text) => JSON.parse(text) as unknown,
  700: Number,
  701: Number,
  1082: (text) => new Date(text),
  1114: (text) => new Date(`${text.replace(' ', 'T')}Z`),
  1184: (text) => new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')),
  3802: (text) => JSON.parse(text) as unknown,
}

function readResult({ command, count, fields, rows }: Answer): Result {
  const read = (values: (string | null)[]) =>
    Object.fromEntries(
      fields.map(({ name, type }, index) => {
        const text = values[index] ?? null
        const parse = READ[type]
        return [name, text === null || !parse ? text : parse(text)]
      }),
    )
  return {
    command,
    rowCount: count,
    rows: rows.map(read),
    fields: fields.map(({ name, type }) => ({ name, dataTypeID: type })),
  }
}
