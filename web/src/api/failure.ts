// What the API answers instead of what was asked for, as one kind of error.

export class Failure extends Error {
  constructor(
    /** 0 when there was no answer at all. */
    readonly status: number,
    readonly code: string,
    detail: string,
    /** The field the refusal is about. */
    readonly attr: string | null = null,
    readonly requestId: string | null = null,
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail)
    this.name = 'Failure'
  }

  /** Worth another try without anybody doing anything. */
  get isPassing(): boolean {
    return this.status <= 0 || this.status === 429 || this.status >= 502
  }
}

/** Nothing to see for whoever may not look: an organization that may not use apps has none. */
export function noneIfDenied(error: unknown): { results: [] } {
  if (error instanceof Failure && error.status === 403) return { results: [] }
  throw error
}

/** The organization demands a second factor of an account that has none. */
export const needsSecondFactor = (error: unknown): boolean =>
  error instanceof Failure && error.code === 'two_factor_setup_required'

/** The page broke over an answer: the server is of another version, or one of them has a bug. */
const FAULT = -1

export const noAnswer = () => new Failure(0, 'no_answer', 'The server does not answer.')

/** The API's own words are for programs: they speak of keys. */
export const signedOut = (requestId: string | null = null) =>
  new Failure(401, 'not_authenticated', 'You are signed out.', null, requestId)

export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure(FAULT, 'fault', error instanceof Error ? error.message : String(error))
}

export async function failureOf(response: Response): Promise<Failure> {
  const requestId = response.headers.get('x-request-id')
  const body: unknown = await response.json().catch(() => null)
  const { code, detail, attr, extra } = (body ?? {}) as Record<string, unknown>
  if (code === 'not_authenticated') return signedOut(requestId)
  return new Failure(
    response.status,
    typeof code === 'string' ? code : 'unknown',
    typeof detail === 'string' ? detail : `The server answered with status ${response.status}.`,
    typeof attr === 'string' ? attr : null,
    requestId,
    typeof extra === 'object' && extra !== null ? (extra as Record<string, unknown>) : {},
  )
}
