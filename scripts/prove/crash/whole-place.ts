// Everything that lies at a place, read as a stranger would who is given the folder and nothing else: each event is there
// once, and none is missing.
import type { MadeExport } from './api.ts'
import type { Ledger } from './ledger.ts'
import { listNames } from './leftovers.ts'
import { uuidsIn } from './outside-readers.ts'
import type { Places } from './places.ts'

/** How many rows were found. */
export async function expectWholePlace(
  places: Places,
  made: MadeExport,
  ledger: Ledger,
  expected: number,
  fault: (text: string) => void,
): Promise<number> {
  const prefix = String(made.destination.config.prefix).replace(/\{.*$/, '')
  const names = (await listNames(places, made.kind)).filter(
    (name) => name.startsWith(prefix) && !name.endsWith('_manifest.json'),
  )
  const counts = new Map<string, number>()
  for (const name of names) {
    const content = await places.read(made.kind, name)
    for (const uuid of await uuidsIn(name, content!)) counts.set(uuid, (counts.get(uuid) ?? 0) + 1)
  }
  const repeated = [...counts.values()].filter((count) => count > 1).length
  const unknown = [...counts.keys()].filter((uuid) => !ledger.has(uuid)).length
  if (repeated > 0) fault(`${made.name}: at the end ${repeated} events are in its files more than once`)
  if (unknown > 0) fault(`${made.name}: at the end ${unknown} events are in its files that were never sent`)
  if (counts.size !== expected)
    fault(`${made.name}: at the end ${counts.size} of ${expected} events are in its files`)
  return counts.size
}
