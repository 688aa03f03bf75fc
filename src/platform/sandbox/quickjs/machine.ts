// What runs an app's script, as the thread knows it: text goes in, text comes out, and every stay inside has an end.
// engine.ts makes machines of QuickJS; another engine would stand behind the same three calls.

export type Operation = (typeof OPERATIONS)[number]
export const OPERATIONS = ['event', 'nested-event', 'call', 'answer', 'alarm'] as const

export type Machine = {
  /** Runs the script and answers what the guest made of it. Throws ScriptFault when it throws, MachineFault past a limit. */
  load(script: string, settings: string, cpu_ms: number): string
  /**
   * Hands something to the guest and lets it work until it only waits. Throws MachineFault past a limit; past `wall_ms`
   * whatever it has used.
   */
  call(operation: Operation, id: number, texts: readonly string[], cpu_ms: number, wall_ms: number): string
  /** Bytes that the script has taken, ours for the guest included. */
  memoryBytes(): number
  dispose(): void
}

/**
 * What the guest may ask of us: text in, text out. `args` is a JSON list; a last argument that is text comes by itself,
 * because QuickJS takes a quarter of a millisecond to quote a kilobyte. An answer begins with `=` when it is JSON, with `~`
 * when it is plain text, a refusal with `!`.
 */
export type HostFunction = (operation: string, args: string, last: string | null) => string

export type Engine = {
  /** How long this thread has had a processor. */
  cpuMs(): number
  /** `app_id` is what the watchdog is told while code runs. */
  makeMachine(app_id: number, host: HostFunction): Promise<Machine>
}

/** A limit stopped the machine: its state is not to be trusted any more. */
export class MachineFault extends Error {
  constructor(
    readonly kind: 'cpu' | 'memory',
    message: string,
  ) {
    super(message)
  }
}

/** The script itself threw. */
export class ScriptFault extends Error {
  constructor(readonly thrown: { name: string; message: string; stack: string }) {
    super(thrown.message)
  }
}
