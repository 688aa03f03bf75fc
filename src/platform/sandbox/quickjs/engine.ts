// Machines made of QuickJS in WebAssembly: one instance, with memory of its own, for each app.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JSException, MAX_STACK_SIZE, QuickJS, type JSValueHandle } from 'quickjs-wasi'
import { monotonicMs } from '../messages.ts'
import type { RunningWord } from '../running-word.ts'
import {
  MachineFault,
  OPERATIONS,
  ScriptFault,
  type Engine,
  type HostFunction,
  type Machine,
  type Operation,
} from './machine.ts'
import { SCRIPT_NAME } from './positions.ts'
import { ThreadTime } from './thread-time.ts'

// What scripts/bundle.js makes of guest/main.ts and guest/clients/main.ts.
const GUEST_FILE = 'sandbox-guest.qjs'
const CLIENTS_FILE = 'sandbox-clients.qjs'
/** Whether code names one of the clients. They take a machine some 3 ms, and most apps do not want them. */
const NAMES_CLIENT = /['"](?:@google-cloud\/|aws-sdk|generic-pool|(?:node:)?stream['"]|pg['"]|snowflake-sdk)/

// Node's types know this name as one of types only.
const { compile } = Reflect.get(globalThis, 'WebAssembly') as {
  compile(bytes: Uint8Array): Promise<WebAssembly.Module>
}

export async function openEngine(memory_bytes: number, word: RunningWord): Promise<Engine> {
  const wasm = await compile(await readFile(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))))
  const [guest, clients] = await Promise.all(
    [GUEST_FILE, CLIENTS_FILE].map((name) => readFile(join(import.meta.dirname, name))),
  )
  const time = new ThreadTime()
  return {
    cpuMs: () => time.roughly(),
    async makeMachine(app_id, host) {
      const stop = new Stop(app_id, word, time)
      const vm = await QuickJS.create({
        wasm,
        memoryLimit: memory_bytes,
        maxStackSize: MAX_STACK_SIZE,
        timezoneOffset: 0,
        interruptHandler: () => stop.isDue(),
      })
      return new QuickJsMachine(vm, stop, { guest: guest!, clients: clients! }, host)
    },
  }
}

// However busy the machine: others wait for this thread.
const MAX_WALL_PER_CPU = 5

/** One handler serves all of an instance: the time is set at each entry and taken away at the way out. */
class Stop {
  #at = 0
  #at_latest = 0
  #cpu_end_ms = 0
  hasStopped = false

  constructor(
    private readonly app_id: number,
    private readonly word: RunningWord,
    private readonly time: ThreadTime,
  ) {}

  isDue(): boolean {
    if (performance.now() < this.#at) return false
    const left_ms = this.#cpu_end_ms - this.time.now()
    if (left_ms >= 1 && this.#at < this.#at_latest) {
      this.#allow(Math.min(left_ms, this.#at_latest - this.#at))
      return false
    }
    this.hasStopped = true
    return true
  }

  #allow(wall_ms: number): void {
    this.#at = performance.now() + wall_ms
    this.word.enter(this.app_id, monotonicMs() + Math.ceil(wall_ms))
  }

  during<T>(cpu_ms: number, run: () => T, wall_ms = Infinity): T {
    this.hasStopped = false
    this.#cpu_end_ms = this.time.roughly() + cpu_ms
    const at_most_ms = Math.min(wall_ms, cpu_ms * MAX_WALL_PER_CPU)
    this.#at_latest = performance.now() + at_most_ms
    this.#allow(Math.min(cpu_ms, at_most_ms))
    try {
      return run()
    } finally {
      this.word.leave()
      this.#at = 0
    }
  }
}

// Long enough for our own part of the guest on the slowest machine.
const GUEST_CPU_MS = 5_000

type Parts = { guest: Uint8Array; clients: Uint8Array }

class QuickJsMachine implements Machine {
  readonly #addClients: JSValueHandle
  readonly #adopt: JSValueHandle
  readonly #enter: JSValueHandle
  readonly #operations: Record<Operation, JSValueHandle>

  constructor(
    private readonly vm: QuickJS,
    private readonly stop: Stop,
    private readonly parts: Parts,
    host: HostFunction,
  ) {
    // The engine copies an answer after we return it: each is freed when the next is made.
    let last: JSValueHandle | null = null
    const ask = vm.newFunction('host', (...args) => {
      last?.dispose()
      // The engine looks at the time every some thousand steps, of which a slow one may be the first.
      last = vm.newString(stop.isDue() ? '!the CPU time is used up' : answer(host, args))
      return last
    })
    const made = stop.during(GUEST_CPU_MS, () =>
      vm.callFunction(vm.evalBytecode(parts.guest), vm.undefined, ask),
    )
    this.#addClients = made.getProp('addClients')
    this.#adopt = made.getProp('adopt')
    this.#enter = made.getProp('enter')
    const names = OPERATIONS.map((operation) => [operation, vm.newString(operation)])
    this.#operations = Object.fromEntries(names) as Record<Operation, JSValueHandle>
    made.dispose()
    ask.dispose()
  }

  load(script: string, settings: string, cpu_ms: number): string {
    if (NAMES_CLIENT.test(script)) this.#loadClients()
    return this.#run(cpu_ms, () => {
      const made = this.vm.evalCode(script, SCRIPT_NAME)
      return this.vm.callFunction(this.#adopt, this.vm.undefined, made, this.vm.newString(settings))
    })
  }

  #loadClients(): void {
    const { vm, stop, parts } = this
    stop.during(GUEST_CPU_MS, () =>
      vm.withScope(
        () => void vm.callFunction(this.#addClients, vm.undefined, vm.evalBytecode(parts.clients)),
      ),
    )
  }

  call(operation: Operation, id: number, texts: readonly string[], cpu_ms: number, wall_ms: number): string {
    const enter = () =>
      this.vm.callFunction(
        this.#enter,
        this.vm.undefined,
        this.#operations[operation],
        this.vm.newNumber(id),
        ...texts.map((text) => this.vm.newString(text)),
      )
    return this.#run(cpu_ms, enter, wall_ms)
  }

  memoryBytes(): number {
    return this.vm.getMemoryUsage().mallocSize
  }

  dispose(): void {
    // The memory goes with the instance. Freeing it piece by piece would run code of the app (finalizers) once more.
  }

  #run(cpu_ms: number, run: () => JSValueHandle, wall_ms?: number): string {
    const { vm, stop } = this
    const inScope = () =>
      vm.withScope(() => {
        const result = run()
        const text = result.isString ? result.toString() : ''
        vm.executePendingJobs()
        if (stop.hasStopped) throw new Error('somebody caught it')
        return text
      })
    try {
      return stop.during(cpu_ms, inScope, wall_ms)
    } catch (error) {
      throw stop.hasStopped ? new MachineFault('cpu', 'it used up its CPU time') : readFault(error)
    }
  }
}

function answer(host: HostFunction, [operation, args, last]: JSValueHandle[]): string {
  if (!operation?.isString || !args?.isString) return '!the host takes text only'
  return host(operation.toString(), args.toString(), last?.isString ? last.toString() : null)
}

/** Whatever is not an exception of the guest's own broke the machine: its stack or memory ran out in a place of no return. */
function readFault(error: unknown): Error {
  if (!(error instanceof JSException)) return new MachineFault('memory', outOf(String(error)))
  const thrown = {
    name: String(error.name),
    message: String(error.message),
    stack: String(error.stack ?? ''),
  }
  const isMemory = thrown.name === 'InternalError' && thrown.message === 'out of memory'
  return isMemory ? new MachineFault('memory', outOf('')) : new ScriptFault(thrown)
}

const outOf = (what: string) => (/call stack/.test(what) ? 'it used up its stack' : 'it used up its memory')
