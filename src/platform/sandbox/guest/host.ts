// The only way out of the sandbox: one function of the host's that takes and gives text.

type HostFunction = (operation: string, args: string, last?: string) => string

// An app may put its own functions in the place of these: ours were taken before it ran.
const { parse, stringify } = JSON

let host: HostFunction
let last_request = 0
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()

export function connect(to: HostFunction): void {
  host = to
}

/** Answered at once. Throws what the host refuses. */
export function ask(operation: string, ...args: unknown[]): unknown {
  const last = args[args.length - 1]
  const answer =
    typeof last === 'string'
      ? host(operation, stringify(args.slice(0, -1)), last)
      : host(operation, stringify(args))
  if (answer[0] === '!') throw new Error(answer.slice(1))
  if (answer[0] === '~') return answer.slice(1)
  return answer.length === 1 ? undefined : parse(answer.slice(1))
}

/** Answered later. */
export function request(operation: string, ...args: unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const id = ++last_request
    ask(operation, id, ...args)
    waiting.set(id, { resolve, reject })
  })
}

/** The host's answer to a request. */
export function takeAnswer(id: number, text: string): void {
  const { result, error } = parse(text) as { result?: unknown; error?: string }
  const asked = waiting.get(id)
  waiting.delete(id)
  if (error === undefined) asked?.resolve(result)
  else asked?.reject(new Error(error))
}
