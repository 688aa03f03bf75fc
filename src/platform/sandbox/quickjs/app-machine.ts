// A machine for one app: whatever leaves it names positions in the author's file.
import type { ThreadApp } from '../messages.ts'
import { ScriptFault, type Engine, type HostFunction, type Machine } from './machine.ts'
import { Positions } from './positions.ts'
import { BEFORE_CODE } from './script.ts'

export async function makeAppMachine(engine: Engine, app: ThreadApp, host: HostFunction): Promise<Machine> {
  const positions = new Positions(app.mappings, BEFORE_CODE.length)
  const told = (text: string) => positions.inText(text)
  const machine = await engine.makeMachine(app.id, (operation, args, last) =>
    host(operation, told(args), last === null ? null : told(last)),
  )
  return {
    load(script, settings, cpu_ms) {
      try {
        return told(machine.load(script, settings, cpu_ms))
      } catch (error) {
        if (!(error instanceof ScriptFault)) throw error
        throw new ScriptFault({ ...error.thrown, stack: told(error.thrown.stack) })
      }
    },
    call: (...entry) => told(machine.call(...entry)),
    memoryBytes: () => machine.memoryBytes(),
    dispose: () => machine.dispose(),
  }
}
