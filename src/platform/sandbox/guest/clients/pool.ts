// generic-pool: things that are made once and lent to one at a time.

type Factory<T> = { create(): Promise<T> | T; destroy(resource: T): unknown }
type Options = { max?: number }

export function createPool<T>(factory: Factory<T>, { max = 1 }: Options = {}): Pool<T> {
  return new Pool(factory, Math.max(1, max))
}

type Asking<T> = { resolve(resource: T): void; reject(error: unknown): void }

class Pool<T> {
  readonly #free: T[] = []
  readonly #asking: Asking<T>[] = []
  #made = 0
  #isDraining = false

  constructor(
    private readonly factory: Factory<T>,
    private readonly max: number,
  ) {}

  acquire(): Promise<T> {
    if (this.#isDraining) return Promise.reject(new Error('pool is draining and cannot accept work'))
    const asked = new Promise<T>((resolve, reject) => this.#asking.push({ resolve, reject }))
    void this.#serve()
    return asked
  }

  async release(resource: T): Promise<void> {
    this.#free.push(resource)
    await this.#serve()
  }

  async destroy(resource: T): Promise<void> {
    this.#made--
    await this.factory.destroy(resource)
    await this.#serve()
  }

  async use<R>(work: (resource: T) => Promise<R> | R): Promise<R> {
    const resource = await this.acquire()
    try {
      return await work(resource)
    } finally {
      await this.release(resource)
    }
  }

  async drain(): Promise<void> {
    this.#isDraining = true
  }

  async clear(): Promise<void> {
    for (const resource of this.#free.splice(0)) await this.destroy(resource)
  }

  async #serve(): Promise<void> {
    if (this.#asking.length === 0) return
    if (this.#free.length > 0) return this.#asking.shift()!.resolve(this.#free.shift()!)
    if (this.#made >= this.max) return
    this.#made++
    const { resolve, reject } = this.#asking.shift()!
    try {
      resolve(await this.factory.create())
    } catch (error) {
      this.#made--
      reject(error)
    }
  }
}
