// One process of several: it can be killed and started again, and stand still for a while.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Role } from '../../../src/app/roles.ts'
import type { Ended, Env, Program, Running } from '../../../test/end-to-end/program.ts'

/** One after the other. */
const MOST_STARTS = 20

export class Member {
  readonly name: string
  readonly role: Role
  readonly url: string
  readonly env: Env
  readonly #program: Program
  readonly #fault: (text: string) => void
  #running: Running | null = null
  #isPaused = false
  #isOver = false

  private constructor(name: string, role: Role, env: Env, program: Program, fault: (text: string) => void) {
    this.name = name
    this.role = role
    this.env = env
    this.url = `http://127.0.0.1:${env.PORT}`
    this.#program = program
    this.#fault = fault
  }

  /** Each has a data folder and a port of its own, and keeps them. */
  static async make(
    name: string,
    role: Role,
    env: Env,
    program: Program,
    fault: (text: string) => void,
  ): Promise<Member> {
    const own = { DATA_DIR: program.newDataDir(), PORT: String(await freePort()), ROLES: role }
    return new Member(name, role, { ...env, ...own }, program, fault)
  }

  get isWhole(): boolean {
    return this.#running !== null && !this.#isPaused
  }

  /** It may end at once where a store is away: then it is started again, as a supervisor would. */
  async start(): Promise<void> {
    let last: Ended | null = null
    for (let tries = 0; tries < MOST_STARTS; tries++) {
      if (this.#isOver) return
      const running = this.#program.serve(this.env)
      this.#running = running
      const isReady = await running.url.then(
        () => true,
        () => false,
      )
      if (isReady) void running.ended.then((ended) => this.#onEnd(running, ended))
      if (isReady || this.#running !== running) return
      last = await running.ended
    }
    this.#fault(`${this.name} does not start: ${last?.stdout.slice(-300)} ${last?.stderr.slice(-500)}`)
  }

  async kill(): Promise<void> {
    const running = this.#running
    this.#running = null
    this.#isPaused = false
    running?.kill('SIGKILL')
    await running?.ended
  }

  pause(): void {
    this.#isPaused = true
    this.#running?.kill('SIGSTOP')
  }

  goOn(): void {
    this.#isPaused = false
    this.#running?.kill('SIGCONT')
  }

  /** In order, for good. */
  async stop(): Promise<void> {
    this.#isOver = true
    const running = this.#running
    this.#running = null
    if (running === null) return
    running.kill('SIGTERM')
    const { code } = await running.ended
    if (code !== 0) this.#fault(`${this.name}: an ordered stop gave exit code ${code}`)
  }

  /** Nobody has killed it: a process that ends by itself is started again, and told. */
  #onEnd(running: Running, { code, stderr }: Ended): void {
    if (this.#running !== running) return
    this.#fault(`${this.name} has ended by itself with exit code ${code}: ${stderr.slice(-500)}`)
    void this.start()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
