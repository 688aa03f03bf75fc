// snowflake-sdk: connections by password, and statements.
import { answered } from './answered.ts'
import { kit } from './kit.ts'

type Options = {
  account: string
  username: string
  password?: string
  database?: string
  schema?: string
  warehouse?: string
  role?: string
  accessUrl?: string
}
type Statement = {
  sqlText: string
  binds?: unknown[]
  complete?(error: Error | undefined, statement: object, rows: Row[] | undefined): void
}
type Row = Record<string, unknown>
type Answer<T> = { success: boolean; code: string | null; message: string | null; data: T }
type Result = {
  rowtype?: { name: string; type: string; scale?: number | null }[]
  rowset?: (string | null)[][]
  getResultUrl?: string
}

/** It goes on; ask again. */
const UNDER_WAY = new Set(['333333', '333334'])
const NUMBERS = new Set(['fixed', 'real'])

/** Nothing of it has a meaning here. */
export function configure(): void {}

export function createConnection(options: Options): Connection {
  return new Connection(options)
}

class Connection {
  readonly #id = kit.crypto.randomUUID() as string
  readonly #home: string
  #token: string | null = null
  #sequence = 0

  constructor(private readonly options: Options) {
    if (!options.account || !options.username) throw new Error('An account and a username must be specified.')
    this.#home = options.accessUrl ?? `https://${options.account}.snowflakecomputing.com`
  }

  connect(callback?: (error: Error | undefined, connection: Connection) => void): this {
    void answered(this.#logIn(), (error: Error | null) => callback?.(error ?? undefined, this))
    return this
  }

  async connectAsync(callback?: (error: Error | undefined, connection: Connection) => void): Promise<this> {
    await this.#logIn()
    callback?.(undefined, this)
    return this
  }

  execute({ sqlText, binds, complete }: Statement): object {
    const statement = { getSqlText: () => sqlText }
    void answered(this.#run(sqlText, binds ?? []), (error: Error | null, rows: Row[] | undefined) =>
      complete?.(error ?? undefined, statement, rows),
    )
    return statement
  }

  destroy(callback?: (error: Error | undefined, connection: Connection) => void): this {
    const done = this.#token === null ? Promise.resolve(null) : this.#post('/session?delete=true', {})
    this.#token = null
    void answered(
      done.then(() => this),
      (error: Error | null) => callback?.(error ?? undefined, this),
    )
    return this
  }

  getId(): string {
    return this.#id
  }

  isUp(): boolean {
    return this.#token !== null
  }

  async #logIn(): Promise<void> {
    const { account, username, password, database, schema, warehouse, role } = this.options
    const given = { databaseName: database, schemaName: schema, warehouse, roleName: role }
    const query = Object.entries({ requestId: kit.crypto.randomUUID() as string, ...given })
      .filter(([, value]) => value)
      .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`)
    const data = {
      ACCOUNT_NAME: account.split('.')[0],
      LOGIN_NAME: username,
      PASSWORD: password,
      CLIENT_APP_ID: 'JavaScript',
      CLIENT_APP_VERSION: '1.9.0',
    }
    const { token } = await this.#post<{ token: string }>(`/session/v1/login-request?${query.join('&')}`, {
      data,
    })
    this.#token = token
  }

  async #run(sqlText: string, binds: unknown[]): Promise<Row[]> {
    if (this.#token === null)
      throw new Error('Unable to perform operation because a connection was never established.')
    const bindings = Object.fromEntries(binds.map((value, index) => [String(index + 1), bindOf(value)]))
    const result = await this.#post<Result>(
      `/queries/v1/query-request?requestId=${String(kit.crypto.randomUUID())}`,
      {
        sqlText,
        asyncExec: false,
        sequenceId: ++this.#sequence,
        ...(binds.length > 0 ? { bindings } : {}),
      },
    )
    const columns = result.rowtype ?? []
    return (result.rowset ?? []).map((values) =>
      Object.fromEntries(
        columns.map(({ name, type }, index) => {
          const value = values[index] ?? null
          return [name, value !== null && NUMBERS.has(type) ? Number(value) : value]
        }),
      ),
    )
  }

  async #post<T>(path: string, json: object): Promise<T> {
    let answer = await this.#send<T>(path, 'POST', JSON.stringify(json))
    while (!answer.success && UNDER_WAY.has(answer.code ?? '')) {
      const { getResultUrl } = answer.data as Result
      if (!getResultUrl) break
      answer = await this.#send<T>(getResultUrl, 'GET', null)
    }
    if (answer.success) return answer.data
    throw Object.assign(new Error(answer.message ?? 'Snowflake refused the request.'), { code: answer.code })
  }

  async #send<T>(path: string, method: string, body: string | null): Promise<Answer<T>> {
    const answer = await kit.fetch(`${this.#home}${path}`, {
      method,
      body,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(this.#token === null ? {} : { authorization: `Snowflake Token="${this.#token}"` }),
      },
    })
    if (!answer.ok) throw new Error(`Snowflake answered with HTTP ${answer.status}.`)
    return (await answer.json()) as Answer<T>
  }
}

function bindOf(value: unknown): { type: string; value: string | null } {
  if (value === null || value === undefined) return { type: 'TEXT', value: null }
  if (typeof value === 'boolean') return { type: 'BOOLEAN', value: String(value) }
  if (typeof value !== 'number') return { type: 'TEXT', value: textOf(value) }
  return { type: Number.isInteger(value) ? 'FIXED' : 'REAL', value: String(value) }
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}
