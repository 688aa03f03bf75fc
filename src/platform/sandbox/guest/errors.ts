// What an app throws, as text.

/** Asks the host to call again later. */
export class RetryError extends Error {
  constructor(message?: string) {
    super(message)
    this.name = 'RetryError'
  }
}

export type Thrown = { name: string; message: string; stack: string; may_retry: boolean }

const MAX_LENGTH = 10_000

/** Anything can be thrown, also what throws again when it is looked at. */
export function describeThrown(thrown: unknown): Thrown {
  try {
    if (!(thrown instanceof Error)) {
      return { name: 'Error', message: cut(String(thrown)), stack: '', may_retry: false }
    }
    const name = cut(String(thrown.name))
    const message = cut(String(thrown.message))
    // Apps that bring the scaffold along have a class of their own by this name.
    const may_retry = name === 'RetryError' || thrown.constructor.name === 'RetryError'
    return { name, message, stack: cut(`${name}: ${message}\n${String(thrown.stack ?? '')}`), may_retry }
  } catch {
    return { name: 'Error', message: 'something that cannot be read was thrown', stack: '', may_retry: false }
  }
}

const cut = (text: string) => (text.length > MAX_LENGTH ? text.slice(0, MAX_LENGTH) : text)
