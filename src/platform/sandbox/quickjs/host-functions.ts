// Everything one app may ask of its host. Whatever comes in is text of unknown intent, and each argument is checked here.
import { isObject } from '../../../lib/json-object.ts'
import {
  MAX_CAPTURES_PER_S,
  MAX_FETCHES_IN_FLIGHT,
  MAX_FETCHES_PER_CALL,
  MAX_FETCHES_PER_S,
  MAX_JOB_DELAY_MS,
  MAX_JOB_PAYLOAD_LENGTH,
  MAX_LOG_LENGTH,
  MAX_REQUESTS_IN_FLIGHT,
} from '../limits.ts'
import {
  describeFault,
  type FromThread,
  type HostAnswer,
  type HostRequest,
  type ThreadApp,
} from '../messages.ts'
import { HISTORICAL_EXPORT, type LogType, type Offer } from '../sandbox.ts'
import { STATUS_CODES } from 'node:http'
import type { Caches } from './cache.ts'
import type { Formats } from './formats.ts'
import type { Locate } from './geoip.ts'
import { OUTGOING } from './outgoing.ts'
import { Gate, type Requests } from './requests.ts'
import { TOOLBOX, type Operation } from './toolbox.ts'
import type { Turn } from './turn.ts'
import { parseUntrusted, readInteger, readNumber, readText, Refusal } from './untrusted.ts'

/** What apps of a thread have in common. */
export type Surroundings = {
  post(message: FromThread): void
  requests: Requests
  locate: Locate
  caches: Caches
  formats: Formats
}

/** What only the instance can do. */
export type Inside = {
  /** Whose time it is. */
  turn(): Turn
  offer(): Offer
  settle(id: number, text: string): void
  answer(id: number, answer: HostAnswer, turn: Turn): void
  setAlarm(id: number, delay_ms: number): void
  clearAlarm(id: number): void
}

const LOG_TYPES: readonly LogType[] = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR']
const MAX_KEY_LENGTH = 200
const MAX_VALUE_LENGTH = 1024 * 1024
const MAX_NAME_LENGTH = 200
const PIECE_BYTES = 768 * 1024

export class HostFunctions {
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #fetches = new Gate(MAX_FETCHES_IN_FLIGHT, {
    per_s: MAX_FETCHES_PER_S,
    at_first: MAX_FETCHES_PER_CALL,
  })
  readonly #others = new Gate(MAX_REQUESTS_IN_FLIGHT)
  readonly #tallies = new Map<string, number>()
  #capture_second = 0
  #captures = 0

  constructor(
    private readonly app: ThreadApp,
    private readonly around: Surroundings,
    private readonly inside: Inside,
    is_inspection: boolean,
  ) {
    const alone = { ...TOOLBOX, ...around.formats.operations(), ...this.#ownOperations() }
    const connected = { ...around.caches.of(app.group).operations(), ...this.#requestOperations() }
    const refused = Object.fromEntries(Object.keys(connected).map((name) => [name, refuseInspection]))
    const silent = { log: () => undefined, metric: () => undefined, ...refused }
    this.#operations = new Map(Object.entries({ ...alone, ...(is_inspection ? silent : connected) }))
  }

  /** Never throws: what goes wrong here is none of the guest's business. */
  call(operation: string, json: string, last: string | null): string {
    try {
      const args = parseUntrusted(json)
      const run = this.#operations.get(operation)
      if (run === undefined || !Array.isArray(args)) throw new Refusal('there is no such function')
      const result = last === null ? run(...args) : run(...args, last)
      if (typeof result === 'string') return `~${result}`
      return result === undefined ? '=' : `=${JSON.stringify(result)}`
    } catch (error) {
      return `!${error instanceof Refusal ? error.message : 'the host could not do it'}`
    }
  }

  /** Metrics are told once per stay, however often they were counted. */
  flushMetrics(): void {
    if (this.#tallies.size === 0) return
    const kinds = this.inside.offer().metrics
    for (const [name, value] of this.#tallies) {
      this.around.post({ kind: 'metric', app_id: this.app.id, name, metric: kinds[name]!, value })
    }
    this.#tallies.clear()
  }

  stopped(error: unknown): void {
    this.around.post({ kind: 'stopped', app_id: this.app.id, fault: describeFault(error) })
  }

  log(source: 'CONSOLE' | 'SYSTEM', type: LogType, message: string): void {
    this.around.post({ kind: 'log', app_id: this.app.id, source, type, message })
  }

  #ownOperations(): Record<string, Operation> {
    const { inside, around, app } = this
    return {
      settled: (id, text) => inside.settle(readInteger(id), readText(text)),
      setAlarm: (id, delay_ms) => inside.setAlarm(readInteger(id), readNumber(delay_ms)),
      clearAlarm: (id) => inside.clearAlarm(readInteger(id)),
      locate: (address) => around.locate(readText(address)),
      attachment: (key, from) => {
        const attachment = Object.hasOwn(app.attachments, readText(key)) && app.attachments[readText(key)]
        if (!attachment) throw new Refusal('there is no such attachment')
        const at = readInteger(from)
        return Buffer.from(attachment.contents.subarray(at, at + PIECE_BYTES)).toString('base64')
      },
      log: (type, message) => this.#writeLine(type, readText(message)),
      metric: (name, value) => this.#count(readText(name), readNumber(value)),
    }
  }

  #writeLine(type: unknown, message: string): void {
    const known = LOG_TYPES.find((one) => one === type)
    if (known === undefined) throw new Refusal('there is no such type')
    const left = this.inside.turn().lines.left--
    if (left > 0) this.log('CONSOLE', known, message.slice(0, MAX_LOG_LENGTH))
    else if (left === 0) this.log('SYSTEM', 'WARN', 'Further lines of this call are left out.')
  }

  #count(name: string, value: number): void {
    const kinds = this.inside.offer().metrics
    if (!Object.hasOwn(kinds, name)) throw new Refusal('there is no such metric')
    const before = this.#tallies.get(name)
    const kind = kinds[name]
    const after = kind === 'sum' ? (before ?? 0) + value : Math[kind as 'max' | 'min'](before ?? value, value)
    this.#tallies.set(name, after)
  }

  #requestOperations(): Record<string, Operation> {
    const key = (value: unknown) => readText(value, MAX_KEY_LENGTH)
    const make = (read: (...args: unknown[]) => HostRequest): Operation => {
      return (id, ...args) => this.#ask(readInteger(id), read(...args), lengthOf(args))
    }
    const outgoing = Object.entries(OUTGOING).map(([name, read]) => [
      name,
      make((...args) => {
        if (this.inside.turn().fetches_left-- <= 0) throw new Refusal('a call may make 50 requests')
        return read(...args)
      }),
    ])
    return {
      ...(Object.fromEntries(outgoing) as Record<string, Operation>),
      sqlClose: make((connection) => ({ op: 'sqlClose', connection: readInteger(connection) })),
      storageGet: make((name) => ({ op: 'storageGet', key: key(name) })),
      storageDelete: make((name) => ({ op: 'storageDelete', key: key(name) })),
      storageSet: make((name, value) => ({
        op: 'storageSet',
        key: key(name),
        value: readText(value, MAX_VALUE_LENGTH),
      })),
      storageIncrement: make((name, by) => ({ op: 'storageIncrement', key: key(name), by: readNumber(by) })),
      storageInit: make((name, value) => ({ op: 'storageInit', key: key(name), value: readNumber(value) })),
      capture: make((event, properties) => this.#readCapture(event, properties)),
      job: make((name, run_at, payload) => this.#readJob(name, run_at, payload)),
    }
  }

  #ask(id: number, request: HostRequest, length: number): void {
    const turn = this.inside.turn()
    const isOutgoing = Object.hasOwn(OUTGOING, request.op)
    const gate = isOutgoing ? this.#fetches : this.#others
    gate.enter(length, () => {
      if (turn.isAborted && isOutgoing) return gate.leave()
      const takeBack = this.around.requests.send(this.app.id, request, (answer) => {
        turn.requests.delete(id)
        gate.leave()
        this.inside.answer(id, withStatusText(answer), turn)
      })
      // Only what goes out is taken back: what is to be stored is stored.
      if (isOutgoing) {
        turn.requests.set(id, () => {
          takeBack()
          gate.leave()
        })
      }
    })
  }

  #readCapture(event: unknown, properties: unknown): HostRequest {
    const second = Math.floor(Date.now() / 1000)
    if (second !== this.#capture_second) this.#captures = 0
    this.#capture_second = second
    if (++this.#captures > MAX_CAPTURES_PER_S) throw new Refusal('100 events a second can be captured')
    if (!isObject(properties)) throw new Refusal('properties are an object')
    const { hops } = this.inside.turn()
    return { op: 'capture', event: readText(event, MAX_NAME_LENGTH), properties, hops }
  }

  #readJob(name: unknown, run_at: unknown, payload: unknown): HostRequest {
    const { jobs, methods } = this.inside.offer().capabilities
    const isKnown =
      jobs.includes(readText(name)) || (name === HISTORICAL_EXPORT && methods.includes('exportEvents'))
    if (!isKnown) throw new Refusal('there is no such job')
    const time = readNumber(run_at)
    if (time > Date.now() + MAX_JOB_DELAY_MS) throw new Refusal('a job can run a year ahead at most')
    if (Math.abs(time) > 8.64e15) throw new Refusal('there is no such time')
    const parsed = parseUntrusted(readText(payload, MAX_JOB_PAYLOAD_LENGTH))
    return { op: 'job', name: readText(name), payload: parsed, run_at: time }
  }
}

/** Only texts count. */
function lengthOf(args: unknown[]): number {
  return args.reduce<number>((sum, arg) => sum + (typeof arg === 'string' ? arg.length : 0), 0)
}

function refuseInspection(): never {
  throw new Refusal('not available while the code is only looked at')
}

/** For answers to requests of HTTP; others stay as they are. */
function withStatusText(answer: HostAnswer): HostAnswer {
  if (!('result' in answer) || !isObject(answer.result) || !('status' in answer.result)) return answer
  return { result: { ...answer.result, status_text: STATUS_CODES[Number(answer.result.status)] ?? '' } }
}
