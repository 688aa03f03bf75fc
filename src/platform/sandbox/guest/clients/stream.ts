// The little of Node's streams that uploads without a file system need.
import { kit } from './kit.ts'

type Listener = (...args: unknown[]) => void

class Emitter {
  readonly #listeners = new Map<string, Listener[]>()

  on(name: string, listener: Listener): this {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener])
    return this
  }
  once(name: string, listener: Listener): this {
    return this.on(name, listener)
  }
  emit(name: string, ...args: unknown[]): boolean {
    const listeners = this.#listeners.get(name) ?? []
    for (const listener of listeners) listener(...args)
    return listeners.length > 0
  }
}

type Sink = { write(chunk: unknown): unknown; end(): unknown }

/** What goes in comes out at the other end. */
export class PassThrough extends Emitter {
  readonly #chunks: unknown[] = []
  #isEnded = false
  #sink: Sink | null = null

  /** Null ends it. */
  push(chunk: unknown): boolean {
    if (chunk === null) this.#isEnded = true
    else this.#chunks.push(chunk)
    this.#flow()
    return true
  }
  write(chunk: unknown): boolean {
    return this.push(chunk)
  }
  end(chunk?: unknown): this {
    if (chunk !== undefined && chunk !== null) this.push(chunk)
    this.push(null)
    return this
  }
  pipe<T extends Sink>(sink: T): T {
    this.#sink = sink
    // Whoever pipes adds the listeners afterwards.
    void Promise.resolve().then(() => this.#flow())
    return sink
  }

  #flow(): void {
    const sink = this.#sink
    if (!sink) return
    for (const chunk of this.#chunks.splice(0)) sink.write(chunk)
    if (!this.#isEnded) return
    this.#sink = null
    sink.end()
    this.emit('end')
  }
}

/** Gathers what is written, and hands it over at the end. */
export class Collector extends Emitter {
  readonly #chunks: Uint8Array[] = []

  constructor(private readonly store: (bytes: Uint8Array) => Promise<void>) {
    super()
  }
  write(chunk: unknown): boolean {
    this.#chunks.push(kit.Buffer.from(chunk))
    return true
  }
  end(chunk?: unknown): this {
    if (chunk !== undefined && chunk !== null) this.write(chunk)
    this.store(kit.Buffer.concat(this.#chunks)).then(
      () => {
        this.emit('finish')
        this.emit('close')
      },
      (error: unknown) => void this.emit('error', error),
    )
    return this
  }
}
